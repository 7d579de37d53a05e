import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A program that only forwards requests to a model server: `node bare-proxy.ts URL KEY`. Shows the overhead
 * that any second program has on this machine. Prints its address when it listens.
 */
const [, , target = '', key = ''] = process.argv;
const agent = new http.Agent({ keepAlive: true });

const server = http.createServer((request, reply) => {
  const headers = { ...request.headers, host: new URL(target).host, authorization: `Bearer ${key}` };
  const { method, url } = request;
  const passedOn = http.request(new URL(url ?? '/', target), { method, agent, headers }, (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(reply);
  });
  passedOn.once('error', () => reply.destroy());
  request.pipe(passedOn);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
