import type { Http } from '../../../platform/http/bind.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import type { FoundCar } from './find-car.ts';

/** Answers with a CAR, made while it is sent. What fails meanwhile breaks the connection off. */
export async function sendCar({ request, reply }: Http, { name, read }: FoundCar): Promise<void> {
  reply.headers({
    'cache-control': 'private, no-store',
    'content-disposition': contentDisposition('attachment', name),
    'content-type': 'application/vnd.ipld.car; version=1',
  });
  await reply.send(request.method === 'HEAD' ? '' : read());
}
