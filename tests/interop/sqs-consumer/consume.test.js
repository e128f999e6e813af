// 1,000 messages through three consumers of sqs-consumer: one by one with failures that give the message back, slow ones that a
// heartbeat holds, and whole batches of which a part is acknowledged. None may be lost or stuck, and poison ends among the dead letters.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    CreateQueueCommand, GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageBatchCommand, SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

const MESSAGES = 1000;
const RECEIVES = 5;
const HEARTBEAT_S = 1;
const HELD_S = 5;

const sqs = new SQSClient({ maxAttempts: 1 });
const send = (Command, input) => sqs.send(new Command(input));
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

// What is to happen to message n.
const isPoison = n => n % 50 === 0;
const failsFirst = n => n % 7 === 0;
const isSlow = n => n % 100 === 33;

async function newQueue(QueueName, Attributes) {
    const { QueueUrl } = await send(CreateQueueCommand, { QueueName, Attributes });
    const { Attributes: { QueueArn } } = await send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['QueueArn'] });
    return { QueueUrl, QueueArn };
}

async function counts(QueueUrl) {
    const { Attributes } = await send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['All'] });
    return [Attributes.ApproximateNumberOfMessages, Attributes.ApproximateNumberOfMessagesNotVisible,
        Attributes.ApproximateNumberOfMessagesDelayed].map(Number);
}

test('a thousand messages, none lost or stuck', { timeout: 120000 }, async () => {
    const dead = await newQueue('consumer-dead');
    const { QueueUrl } = await newQueue('consumer-main', {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.QueueArn, maxReceiveCount: RECEIVES }),
    });

    const attempts = new Map();
    const done = new Set();
    const problems = [];
    let halfBatches = 0;
    const attempt = message => {
        const { n } = JSON.parse(message.Body);
        attempts.set(n, (attempts.get(n) ?? 0) + 1);
        assert.equal(message.MessageAttributes.n.StringValue, String(n));
        return n;
    };
    const shared = {
        queueUrl: QueueUrl, sqs, batchSize: 10, waitTimeSeconds: 20, messageAttributeNames: ['All'],
        messageSystemAttributeNames: ['ApproximateReceiveCount'], pollingWaitTimeMs: 0,
    };
    const one = more => Consumer.create({
        ...shared, ...more,
        handleMessage: async message => {
            const n = attempt(message);
            if (isPoison(n) || (failsFirst(n) && message.Attributes.ApproximateReceiveCount === '1'))
                throw new Error('as planned');
            if (isSlow(n))
                await sleep(HELD_S * 1000 + 500); // longer than the timeout: only the heartbeat keeps it hidden
        },
    });
    const consumers = [
        one({ visibilityTimeout: HELD_S, heartbeatInterval: HEARTBEAT_S, terminateVisibilityTimeout: true }),
        one({ visibilityTimeout: HELD_S, heartbeatInterval: HEARTBEAT_S, terminateVisibilityTimeout: () => 1 }),
        Consumer.create({
            ...shared, visibilityTimeout: HELD_S, terminateVisibilityTimeout: true,
            handleMessageBatch: async messages => {
                const good = messages.filter(message => !isPoison(attempt(message)));
                if (good.length === messages.length && good.length > 1 && ++halfBatches % 4 === 0)
                    return good.slice(1); // the first comes back by itself
                if (good.length < messages.length)
                    throw new Error('as planned'); // the whole batch is given back
                return messages;
            },
        }),
    ];
    // Planned failures, and a heartbeat of sqs-consumer that overtakes its own delete: neither loses anything.
    const isExpected = error => /as planned|not available for visibility timeout change/.test(error.message);
    const bodies = message => [message].flat().map(each => JSON.parse(each.Body).n);
    for (const consumer of consumers) {
        consumer.on('message_processed', message => bodies(message).forEach(n => done.add(n)));
        consumer.on('error', error => isExpected(error) || problems.push(error));
        consumer.on('timeout_error', error => problems.push(error));
        consumer.on('processing_error', error => isExpected(error) || problems.push(error));
        consumer.start();
    }
    try {
        for (let n = 0; n < MESSAGES; n += 10) {
            await send(SendMessageBatchCommand, {
                QueueUrl, Entries: Array.from({ length: 10 }, (_, i) => ({
                    Id: String(i), MessageBody: JSON.stringify({ n: n + i, text: 'é😀\r\n' }),
                    MessageAttributes: { n: { DataType: 'Number', StringValue: String(n + i) } },
                })),
            });
        }

        // A batch that is thrown back takes its good messages along, and some of them too often: they are dead letters as well.
        while (problems.length === 0) {
            const [main, letters] = await Promise.all([counts(QueueUrl), counts(dead.QueueUrl)]);
            if (main.every(count => count === 0) && done.size + letters[0] >= MESSAGES)
                break;
            await sleep(100);
        }
    } finally {
        for (const consumer of consumers) {
            consumer.removeAllListeners('error').on('error', () => {}); // an aborted poll is an error to it
            consumer.stop({ abort: true });
        }
    }
    assert.deepEqual(problems, []);

    const letters = new Set();
    for (let batch; (batch = (await send(ReceiveMessageCommand, {
        QueueUrl: dead.QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'],
    })).Messages);) {
        for (const message of batch) {
            assert.ok(Number(message.Attributes.ApproximateReceiveCount) > RECEIVES);
            letters.add(JSON.parse(message.Body).n);
        }
    }
    const everybody = Array.from({ length: MESSAGES }, (_, n) => n);
    assert.deepEqual(everybody.filter(n => !done.has(n) && !letters.has(n)), [], 'lost');
    assert.deepEqual(everybody.filter(n => isPoison(n) && !letters.has(n)), [], 'poison that is no dead letter');
    assert.deepEqual(everybody.filter(n => isPoison(n) && done.has(n)), [], 'poison that was processed');
    assert.ok([...letters].every(n => attempts.get(n) >= RECEIVES), 'a dead letter that was not tried often enough');
    assert.ok(halfBatches > 3, 'batches were acknowledged in part');
    console.log(`# ${done.size} processed, ${letters.size} dead letters, ${[...attempts.values()].reduce((a, b) => a + b)} receives`);
    sqs.destroy();
});
