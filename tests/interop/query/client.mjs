// Plays scenario.json through Amazon's client for JavaScript, which speaks AWS JSON, and prints what came back.
//   node client.mjs SCENARIO, with the endpoint in AWS_ENDPOINT_URL_SQS

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const sqs = createRequire(`${process.cwd()}/`)('@aws-sdk/client-sqs');
const client = new sqs.SQSClient({ maxAttempts: 1 });
const saved = { prefix: 'compared-js-' };

/// The step's parameters with what was saved in them.
function filled(value) {
    if (typeof value === 'string')
        return value.replace(/\$\{(\w+)\}/g, (_, name) => saved[name]);
    if (Array.isArray(value))
        return value.map(filled);
    if (value === null || typeof value !== 'object')
        return value;
    if (value.$repeat)
        return value.$repeat[0].repeat(value.$repeat[1]);
    if (value.$bytes)
        return new Uint8Array(Buffer.from(value.$bytes, 'base64'));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}

const seen = {};
for (const step of JSON.parse(readFileSync(process.argv[2], 'utf8')).steps) {
    try {
        const { $metadata, ...result } = await client.send(new sqs[`${step.op}Command`](filled(step.params)));
        if (!$metadata.requestId)
            throw new TypeError(`${step.name}: no request id`);
        seen[step.name] = { result };
    } catch (error) {
        if (!error.$metadata)
            throw error;
        seen[step.name] = { error: { code: error.Code ?? error.name, message: error.message, status: error.$metadata.httpStatusCode } };
    }
    for (const [name, path] of Object.entries(step.save ?? {}))
        saved[name] = path.split('.').reduce((value, key) => value[key], seen[step.name].result);
}
process.stdout.write(JSON.stringify(seen, (_, value) => {
    // A Buffer has become an object by now, a Uint8Array has not.
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}));
