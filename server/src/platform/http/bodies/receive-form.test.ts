import { type AddressInfo, connect } from 'node:net';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import type { Context } from '../../context.ts';
import { receiveForm } from './receive-form.ts';

const ctx = { caller: { kind: 'user', userId: 'ada', isOperator: false } } as unknown as Context;

test.each(['before its call is handled', 'before its parts are read'])(
  'an upload ends if its client disconnects %s',
  async (when) => {
    const [come, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = Promise.withResolvers<unknown>();
    const app = Fastify();
    await app.register(multipart);
    app.post('/', async (request, reply) => {
      reply.raw.once('close', () => gone.resolve());
      come.resolve();
      if (when === 'before its call is handled') await gone.promise;
      const received = receiveForm(ctx, request, { part: 'file' }, async (parts) => {
        await gone.promise;
        for await (const part of parts) throw new Error(`there is ${part.fieldname}`);
      });
      await received.then(ended.resolve, ended.resolve);
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    onFileEnd(() => app.close());
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.write(
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=cut\r\ncontent-length: 9999\r\n\r\n--cut\r\n',
    );
    await come.promise;
    client.destroy();
    expect(await ended.promise).toMatchObject({
      code: 'invalid_request',
      publicMessage: 'The upload stopped before its body was read',
      param: 'file',
    });
  },
);
