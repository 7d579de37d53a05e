import { text } from 'node:stream/consumers';
import { listen, sendJson } from './listen.ts';

type Pin = {
  requestid: string;
  status: string;
  pin: { cid: string; name: string; origins: string[] };
  info?: object;
};

/** Implements the IPFS Pinning Service API for this token. */
export async function fakePinningService(token: string) {
  const service = {
    pins: new Map<string, Pin>(),
    /** Overrides the response to every call. */
    refusal: null as { status: number; body: unknown } | null,
    url: '',
  };
  let ids = 0;
  const toStatus = (pin: Pin) => ({
    ...pin,
    created: '2026-01-01T00:00:00Z',
    delegates: ['/dns4/pins.example/tcp/4001/p2p/12D4'],
  });
  const url = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://pins');
    const body = await text(request);
    if (service.refusal) return sendJson(response, service.refusal.status, service.refusal.body);
    if (request.headers.authorization !== `Bearer ${token}`)
      return sendJson(response, 401, { error: { reason: 'UNAUTHORIZED' } });
    const id = pathname.replace(/^\/psa\/pins\/?/, '');
    if (request.method === 'POST') {
      ids += 1;
      const pin = { requestid: `r${ids}`, status: 'queued', pin: JSON.parse(body) };
      service.pins.set(pin.requestid, pin);
      return sendJson(response, 202, toStatus(pin));
    }
    if (id === '') {
      const results = [...service.pins.values()].filter(
        ({ pin, status }) =>
          pin.cid === searchParams.get('cid') &&
          pin.name === searchParams.get('name') &&
          searchParams.get('status')?.split(',').includes(status),
      );
      return sendJson(response, 200, { count: results.length, results: results.map(toStatus) });
    }
    const pin = service.pins.get(id);
    if (!pin) return sendJson(response, 404, { error: { reason: 'NOT_FOUND' } });
    if (request.method === 'GET') return sendJson(response, 200, toStatus(pin));
    service.pins.delete(id);
    response.writeHead(202).end();
  });
  service.url = `${url}/psa`;
  return service;
}
