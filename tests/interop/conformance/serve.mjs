// fauxqs on a free port of 127.0.0.1 (its own programs bind to every address); prints what world_local prints.
import { pathToFileURL } from 'node:url';

const { buildApp } = await import(pathToFileURL(`${process.cwd()}/node_modules/fauxqs/dist/app.js`));
const app = buildApp({ logger: false });
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`endpoint http://127.0.0.1:${app.server.address().port}\nready`);
process.on('SIGTERM', () => process.exit(0));
