import { buffer } from 'node:stream/consumers';
import { listen, sendJson } from './listen.ts';
import { readCar } from './read-blocks.ts';

/** Implements the part of Kubo's RPC that we use. */
export async function fakeKubo(token: string | null = null) {
  const node = {
    /** Content by CID. */
    pinned: new Map<string, Record<string, string>>(),
    calls: [] as string[],
    connected: [] as string[],
    /** Replaces the response to the next import: a text after status 200, or an error. */
    nextImport: null as { text: string } | { status: number; message: string } | null,
    isAway: false,
    url: '',
  };
  const fail = (message: string) => ({ Message: message, Code: 0, Type: 'error' });
  node.url = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://kubo');
    const command = pathname.replace('/api/v0/', '');
    const body = await buffer(request);
    if (node.isAway) return void response.destroy();
    if (request.method !== 'POST') return sendJson(response, 405, {});
    if (token && request.headers.authorization !== `Bearer ${token}`) return sendJson(response, 403, {});
    const cid = searchParams.get('arg') ?? '';
    node.calls.push(command);
    if (command === 'id') {
      const Addresses = ['/ip4/127.0.0.1/tcp/4001/p2p/12D3', '/dns4/node.example/tcp/4001/p2p/12D3'];
      return sendJson(response, 200, { ID: '12D3', Addresses });
    }
    if (command === 'swarm/connect') {
      node.connected.push(cid);
      return sendJson(response, 200, {});
    }
    if (command === 'pin/ls') {
      if (!node.pinned.has(cid)) return sendJson(response, 500, fail(`path '/ipfs/${cid}' is not pinned`));
      return sendJson(response, 200, { Keys: { [cid]: { Type: 'recursive' } } });
    }
    if (command === 'pin/rm') {
      if (!node.pinned.delete(cid)) return sendJson(response, 500, fail('not pinned or pinned indirectly'));
      return sendJson(response, 200, { Pins: [cid] });
    }
    if (command !== 'dag/import') return sendJson(response, 404, {});
    const { nextImport } = node;
    node.nextImport = null;
    if (nextImport && 'status' in nextImport)
      return sendJson(response, nextImport.status, fail(nextImport.message));
    if (nextImport) return void response.writeHead(200).end(nextImport.text);
    const { root, files } = await readCar(filePart(body));
    node.pinned.set(root, files);
    return sendJson(response, 200, { Root: { Cid: { '/': root }, PinErrorMsg: '' } });
  });
  return node;
}

/** Returns the bytes of the only file of a form. */
function filePart(body: Buffer): Buffer {
  const boundary = body.subarray(0, body.indexOf('\r\n'));
  return body.subarray(body.indexOf('\r\n\r\n') + 4, body.lastIndexOf(boundary) - 2);
}
