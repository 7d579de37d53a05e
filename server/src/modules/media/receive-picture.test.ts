import type { FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { Context } from '../../platform/context.ts';
import { receiveForm } from '../../platform/http/bodies/receive-form.ts';
import { receivePicture } from './receive-picture.ts';

vi.mock('../../platform/http/bodies/receive-form.ts', () => ({ receiveForm: vi.fn<typeof receiveForm>() }));

test('a picture with a second one has twice the time of one', async () => {
  const request = { releaseBody: () => undefined } as FastifyRequest;
  const receive = async (options = {}) => {
    await receivePicture({} as Context, request, 'image', async () => null, options);
    return vi.mocked(receiveForm).mock.lastCall?.[2].wholeMs;
  };
  const alone = await receive();
  expect(await receive({ optionalPart: 'mask' })).toBe(2 * Number(alone));
});
