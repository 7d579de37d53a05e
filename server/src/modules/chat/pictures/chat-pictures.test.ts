import { describe, expect, it } from 'vitest';
import { AppError } from '../../../platform/errors.ts';
import { collectPicture } from '../../media/receive-picture.ts';
import { usageBounds } from '../requests/requests.ts';
import { tokensOf, toServerPart } from './chat-pictures.ts';
import { holdBody, pictureRoom } from './held-pictures.ts';

const MB = 1024 ** 2;
const link = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const tooMany = expect.objectContaining({ code: 'rate_limited' });

/** Returns the error that the call throws; null if it throws none. */
function errorOf(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}

describe('pictures of a chat', () => {
  it('replace only the references of picture parts', () => {
    const pictures = { a: { url: 'data:image/png;base64,', tokensMax: 9 } };
    const image_url = { url: 'a' };
    const text = { type: 'text', text: 'a', image_url };
    expect(toServerPart(text, pictures)).toBe(text);
    expect(toServerPart({ type: 'image_url', image_url }, pictures)).toEqual({
      type: 'image_url',
      image_url: { url: pictures.a.url },
    });
  });

  it('may fill the context while they are not read, so that the hold of a batch covers them', () => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [link] }] };
    expect(usageBounds(body, { context_tokens: 131_072 })).toMatchObject({ promptTokens: 131_072 });
  });

  it('have at least the tokens of models that cut pictures into tiles', () => {
    expect(tokensOf({ width: 6, height: 4 })).toBe(8192);
    expect(tokensOf({ width: 2800, height: 1400 })).toBe(20_000);
  });

  it('are not collected beyond their limit', async () => {
    let sent = 0;
    const pieces = async function* () {
      for (; sent < 9; sent += 1) yield Buffer.alloc(4);
    };
    const error = await collectPicture(pieces(), 'image_url', 10).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AppError);
    expect([error, sent]).toMatchObject([{ code: 'payload_too_large', param: 'image_url' }, 2]);
  });
});

describe('the room for pictures', () => {
  it('is limited per user and process, and free again after the request', () => {
    const [ada, again] = [pictureRoom('ada'), pictureRoom('ada')];
    ada.take(40 * MB);
    expect(errorOf(() => again.take(20 * MB))).toEqual(tooMany);
    ada.take(20 * MB);
    again.take(20 * MB);
    const others = ['bob', 'cleo'].map(pictureRoom);
    for (const one of others) one.take(40 * MB);
    expect(errorOf(() => pictureRoom('dan').take(9 * MB))).toEqual(tooMany);
    for (const one of [ada, again, ...others]) one.leave();
    const dan = pictureRoom('dan');
    dan.take(48 * MB);
    dan.leave();
  });

  it('is reserved for large bodies before they are read', () => {
    const leave = [1, 2, 3, 4].map(() => holdBody('ada', 12 * MB));
    expect(errorOf(() => holdBody('ada', 12 * MB))).toEqual(tooMany);
    expect(errorOf(() => holdBody('ada', MB))).toBeNull();
    for (const one of leave) one();
    holdBody('ada', 12 * MB)();
  });
});
