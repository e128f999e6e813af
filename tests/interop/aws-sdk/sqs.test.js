// Amazon's client against the queue that AWS_ENDPOINT_URL_SQS names. It checks the MD5 of every message and throws when one is
// wrong, so each receive here tests those as well.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    CancelMessageMoveTaskCommand, ChangeMessageVisibilityBatchCommand, ChangeMessageVisibilityCommand,
    CreateQueueCommand, DeleteMessageBatchCommand, DeleteMessageCommand, DeleteQueueCommand,
    GetQueueAttributesCommand, GetQueueUrlCommand, InvalidAttributeName, ListDeadLetterSourceQueuesCommand,
    ListMessageMoveTasksCommand, ListQueuesCommand, PurgeQueueCommand, PurgeQueueInProgress, QueueDoesNotExist,
    QueueNameExists, ReceiptHandleIsInvalid, ReceiveMessageCommand, ResourceNotFoundException, SQSClient,
    SendMessageBatchCommand, SendMessageCommand, SetQueueAttributesCommand, StartMessageMoveTaskCommand,
    TooManyEntriesInBatchRequest, UnsupportedOperation, paginateListQueues,
} from '@aws-sdk/client-sqs';

const client = new SQSClient({ maxAttempts: 1 });
const send = (Command, input) => client.send(new Command(input));

let made = 0;
async function newQueue(Attributes) {
    const { QueueUrl } = await send(CreateQueueCommand, { QueueName: `interop-${++made}`, Attributes });
    return QueueUrl;
}
async function receive(QueueUrl, more) {
    const { Messages } = await send(ReceiveMessageCommand, { QueueUrl, MaxNumberOfMessages: 10, ...more });
    return Messages ?? [];
}
async function depth(QueueUrl) {
    const { Attributes } = await send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['All'] });
    return [Attributes.ApproximateNumberOfMessages, Attributes.ApproximateNumberOfMessagesNotVisible,
        Attributes.ApproximateNumberOfMessagesDelayed].map(Number);
}

test('send, receive, delete', async () => {
    const QueueUrl = await newQueue();
    const MessageBody = 'a b&c=é\n\t"\\ 😀 \u2028 </Body>';
    const MessageAttributes = {
        attempt: { DataType: 'Number.int', StringValue: '1' },
        blob: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255) },
        event_id: { DataType: 'String', StringValue: 'evt-42' },
    };
    const sent = await send(SendMessageCommand, {
        QueueUrl, MessageBody, MessageAttributes, MessageGroupId: 'tenant',
        MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1' } },
    });
    assert.equal(sent.MD5OfMessageAttributes, '526ac51008ab065632161c750ee1f5ea');
    assert.ok(sent.MD5OfMessageSystemAttributes);
    const before = Date.now();
    const [message, ...others] = await receive(QueueUrl, {
        MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All'],
    });
    assert.equal(others.length, 0);
    assert.equal(message.Body, MessageBody);
    assert.equal(message.MessageId, sent.MessageId);
    assert.deepEqual(Object.keys(message.MessageAttributes), ['attempt', 'blob', 'event_id']);
    assert.deepEqual(Array.from(message.MessageAttributes.blob.BinaryValue), [0, 255]);
    assert.equal(message.MessageAttributes.attempt.DataType, 'Number.int');
    assert.equal(message.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
    assert.equal(message.Attributes.ApproximateReceiveCount, '1');
    assert.equal(message.Attributes.MessageGroupId, 'tenant');
    assert.equal(message.Attributes.AWSTraceHeader, 'Root=1');
    assert.ok(Math.abs(Number(message.Attributes.SentTimestamp) - before) < 60000);
    assert.deepEqual(await receive(QueueUrl), []);
    await send(DeleteMessageCommand, { QueueUrl, ReceiptHandle: message.ReceiptHandle });
    await send(DeleteMessageCommand, { QueueUrl, ReceiptHandle: message.ReceiptHandle });
    assert.deepEqual(await depth(QueueUrl), [0, 0, 0]);
});

test('batches and what failed in them', async () => {
    const QueueUrl = await newQueue();
    const entries = Array.from({ length: 10 }, (_, i) => ({ Id: `e${i}`, MessageBody: i === 3 ? '\u0000' : `body ${i}` }));
    const sent = await send(SendMessageBatchCommand, { QueueUrl, Entries: entries });
    assert.equal(sent.Successful.length, 9);
    assert.deepEqual(sent.Failed.map(f => [f.Id, f.Code, f.SenderFault]), [['e3', 'InvalidMessageContents', true]]);

    const got = [];
    for (let batch; (batch = await receive(QueueUrl)).length > 0;)
        got.push(...batch);
    assert.deepEqual(got.map(m => m.Body).sort(), entries.map(e => e.MessageBody).filter(b => b !== '\u0000').sort());

    const visibility = await send(ChangeMessageVisibilityBatchCommand, {
        QueueUrl, Entries: got.map((m, i) => ({ Id: `v${i}`, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 100 })),
    });
    assert.equal(visibility.Successful.length, 9);
    const deleted = await send(DeleteMessageBatchCommand, {
        QueueUrl,
        Entries: [...got.map((m, i) => ({ Id: `d${i}`, ReceiptHandle: m.ReceiptHandle })), { Id: 'bad', ReceiptHandle: 'garbage' }],
    });
    assert.equal(deleted.Successful.length, 9);
    assert.deepEqual(deleted.Failed.map(f => [f.Id, f.Code]), [['bad', 'ReceiptHandleIsInvalid']]);
    assert.deepEqual(await depth(QueueUrl), [0, 0, 0]);

    await assert.rejects(
        send(SendMessageBatchCommand, { QueueUrl, Entries: Array.from({ length: 11 }, (_, i) => ({ Id: `${i}`, MessageBody: 'a' })) }),
        TooManyEntriesInBatchRequest);
});

test('visibility', async () => {
    const QueueUrl = await newQueue({ VisibilityTimeout: '1' });
    await send(SendMessageCommand, { QueueUrl, MessageBody: 'a' });
    const [first] = await receive(QueueUrl, { AttributeNames: ['ApproximateReceiveCount'] });
    assert.deepEqual(await depth(QueueUrl), [0, 1, 0]);
    // Comes back by itself, to whoever is waiting.
    const [second] = await receive(QueueUrl, { WaitTimeSeconds: 10, AttributeNames: ['ApproximateReceiveCount'] });
    assert.equal(first.Attributes.ApproximateReceiveCount, '1');
    assert.equal(second.Attributes.ApproximateReceiveCount, '2');
    await send(ChangeMessageVisibilityCommand, { QueueUrl, ReceiptHandle: second.ReceiptHandle, VisibilityTimeout: 100 });
    assert.deepEqual(await depth(QueueUrl), [0, 1, 0]);
    await send(ChangeMessageVisibilityCommand, { QueueUrl, ReceiptHandle: second.ReceiptHandle, VisibilityTimeout: 0 });
    const [third] = await receive(QueueUrl);
    await send(DeleteMessageCommand, { QueueUrl, ReceiptHandle: third.ReceiptHandle });
    await assert.rejects(
        send(ChangeMessageVisibilityCommand, { QueueUrl, ReceiptHandle: third.ReceiptHandle, VisibilityTimeout: 1 }),
        error => error.name === 'InvalidParameterValue' || error.name === 'InvalidParameterValueException');
});

test('redrive to the dead-letter queue', async () => {
    const dead = await newQueue({ MessageRetentionPeriod: '1209600' });
    const { Attributes: { QueueArn } } = await send(GetQueueAttributesCommand, { QueueUrl: dead, AttributeNames: ['QueueArn'] });
    const QueueUrl = await newQueue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn: QueueArn, maxReceiveCount: 2 }) });
    const sent = await send(SendMessageCommand, { QueueUrl, MessageBody: 'poison' });
    assert.equal((await receive(QueueUrl, { VisibilityTimeout: 0 })).length, 1);
    assert.equal((await receive(QueueUrl, { VisibilityTimeout: 0 })).length, 1);
    const waiting = receive(dead, { WaitTimeSeconds: 10, MessageSystemAttributeNames: ['All'] });
    assert.deepEqual(await receive(QueueUrl), []);
    const [letter] = await waiting;
    assert.equal(letter.MessageId, sent.MessageId);
    assert.equal(letter.Body, 'poison');
    assert.equal(letter.Attributes.ApproximateReceiveCount, '3');
    assert.match(letter.Attributes.DeadLetterQueueSourceArn, /^arn:aws:sqs:us-east-1:000000000000:interop-/);
    assert.deepEqual(await depth(QueueUrl), [0, 0, 0]);
});

test('message move tasks', async () => {
    const dead = await newQueue();
    const { Attributes: { QueueArn } } = await send(GetQueueAttributesCommand, { QueueUrl: dead, AttributeNames: ['QueueArn'] });
    const QueueUrl = await newQueue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn: QueueArn, maxReceiveCount: 1 }) });
    assert.deepEqual((await send(ListDeadLetterSourceQueuesCommand, { QueueUrl: dead })).queueUrls, [QueueUrl]);
    const sent = await send(SendMessageCommand, { QueueUrl, MessageBody: 'poison' });
    await receive(QueueUrl, { VisibilityTimeout: 0 });
    await receive(QueueUrl);

    const { TaskHandle } = await send(StartMessageMoveTaskCommand, { SourceArn: QueueArn });
    const [moved] = await receive(QueueUrl, { WaitTimeSeconds: 10, MessageSystemAttributeNames: ['All'] });
    assert.equal(moved.Body, 'poison');
    assert.notEqual(moved.MessageId, sent.MessageId);
    assert.equal(moved.Attributes.ApproximateReceiveCount, '1');
    for (let task; task?.Status !== 'COMPLETED';) {
        [task] = (await send(ListMessageMoveTasksCommand, { SourceArn: QueueArn })).Results;
        assert.ok(['RUNNING', 'COMPLETED'].includes(task.Status));
    }
    await assert.rejects(send(CancelMessageMoveTaskCommand, { TaskHandle }));
    await assert.rejects(send(StartMessageMoveTaskCommand, { SourceArn: `${QueueArn}-absent` }), ResourceNotFoundException);

    // A slow one can be stopped, and what it has not moved stays.
    const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: `${i}` }));
    await send(SendMessageBatchCommand, { QueueUrl: dead, Entries });
    const { Attributes: { QueueArn: DestinationArn } } =
        await send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['QueueArn'] });
    const slow = await send(StartMessageMoveTaskCommand, { SourceArn: QueueArn, DestinationArn, MaxNumberOfMessagesPerSecond: 1 });
    const cancelled = await send(CancelMessageMoveTaskCommand, { TaskHandle: slow.TaskHandle });
    assert.equal(typeof cancelled.ApproximateNumberOfMessagesMoved, 'number');
    assert.equal((await depth(QueueUrl))[0] + (await depth(dead))[0], 10);
});

test('long poll and delay', async () => {
    const QueueUrl = await newQueue();
    const waiting = receive(QueueUrl, { WaitTimeSeconds: 20 });
    await send(SendMessageCommand, { QueueUrl, MessageBody: 'now' });
    assert.deepEqual((await waiting).map(m => m.Body), ['now']);
    await send(SendMessageCommand, { QueueUrl, MessageBody: 'later', DelaySeconds: 1 });
    assert.deepEqual(await depth(QueueUrl), [0, 1, 1]);
    assert.deepEqual((await receive(QueueUrl, { WaitTimeSeconds: 10 })).map(m => m.Body), ['later']);

    // Hung up: the message is for the next one.
    const abort = new AbortController();
    const aborted = client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), { abortSignal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    await assert.rejects(aborted, { name: 'AbortError' });
    await send(SendMessageCommand, { QueueUrl, MessageBody: 'next' });
    assert.deepEqual((await receive(QueueUrl, { WaitTimeSeconds: 1 })).map(m => m.Body), ['next']);
});

test('queues', async () => {
    const QueueUrl = await newQueue({ VisibilityTimeout: '7' });
    const QueueName = QueueUrl.split('/').pop();
    assert.equal((await send(GetQueueUrlCommand, { QueueName })).QueueUrl, QueueUrl);
    assert.equal((await send(CreateQueueCommand, { QueueName })).QueueUrl, QueueUrl);
    await assert.rejects(send(CreateQueueCommand, { QueueName, Attributes: { VisibilityTimeout: '8' } }), QueueNameExists);
    await send(SetQueueAttributesCommand, { QueueUrl, Attributes: { VisibilityTimeout: '8' } });
    const { Attributes } = await send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['VisibilityTimeout'] });
    assert.deepEqual(Attributes, { VisibilityTimeout: '8' });
    assert.ok((await send(ListQueuesCommand, { QueueNamePrefix: 'interop-' })).QueueUrls.includes(QueueUrl));
    const paged = [];
    for await (const page of paginateListQueues({ client, pageSize: 2 }, {}))
        paged.push(...page.QueueUrls ?? []);
    assert.equal(new Set(paged).size, paged.length);
    assert.ok(paged.includes(QueueUrl) && paged.some(url => url.endsWith('/job-board-events-dlq')));

    await send(SendMessageCommand, { QueueUrl, MessageBody: 'a' });
    await send(PurgeQueueCommand, { QueueUrl });
    assert.deepEqual(await depth(QueueUrl), [0, 0, 0]);
    await assert.rejects(send(PurgeQueueCommand, { QueueUrl }), PurgeQueueInProgress);
    await send(DeleteQueueCommand, { QueueUrl });
    await assert.rejects(send(SendMessageCommand, { QueueUrl, MessageBody: 'a' }), QueueDoesNotExist);
});

test('errors have the names that programs compare', async () => {
    const QueueUrl = await newQueue();
    await assert.rejects(send(GetQueueUrlCommand, { QueueName: 'none' }), error => {
        assert.ok(error instanceof QueueDoesNotExist);
        assert.equal(error.$metadata.httpStatusCode, 400);
        assert.match(error.$metadata.requestId, /^[0-9a-f-]{36}$/);
        assert.equal(error.message, 'The specified queue does not exist.');
        return true;
    });
    await assert.rejects(send(DeleteMessageCommand, { QueueUrl, ReceiptHandle: 'garbage' }), ReceiptHandleIsInvalid);
    await assert.rejects(send(GetQueueAttributesCommand, { QueueUrl, AttributeNames: ['Foobar'] }), InvalidAttributeName);
    await assert.rejects(send(CreateQueueCommand, { QueueName: 'x.fifo', Attributes: { FifoQueue: 'true' } }), UnsupportedOperation);
    await assert.rejects(send(ReceiveMessageCommand, { QueueUrl, MaxNumberOfMessages: 11 }), error => {
        assert.match(error.name, /^InvalidParameterValue/);
        assert.match(error.message, /Must be between 1 and 10/);
        return true;
    });
});

test('without an endpoint the host of the queue URL is asked', async () => {
    const QueueUrl = await newQueue();
    const { AWS_ENDPOINT_URL_SQS } = process.env;
    delete process.env.AWS_ENDPOINT_URL_SQS;
    try {
        const other = new SQSClient({ maxAttempts: 1 });
        await other.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }));
        other.destroy();
    } finally {
        process.env.AWS_ENDPOINT_URL_SQS = AWS_ENDPOINT_URL_SQS;
    }
    assert.equal((await receive(QueueUrl)).length, 1);
});

test('a large message', async () => {
    const QueueUrl = await newQueue();
    const MessageBody = 'é'.repeat(524288);
    await send(SendMessageCommand, { QueueUrl, MessageBody });
    assert.equal((await receive(QueueUrl))[0].Body, MessageBody);
    await assert.rejects(send(SendMessageCommand, { QueueUrl, MessageBody: MessageBody + 'x' }), /shorter than 1048576 bytes/);
});
