import { uploadFile } from '@bakehouse/contract/assets';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lastAnswer } from '../live/online.ts';
import { setCredentials } from './credentials.ts';
import { shareRead } from './shared-reads.ts';
import { upload } from './upload.ts';

/** The response that the test sets; null for a connection that is silent. */
let answer: { status: number; body: string } | null;
let onBytes: ((event: { loaded: number; total: number }) => void) | undefined;
/** Form parts in order. */
let sent: string[] = [];
class Request {
  status = 0;
  responseText = '';
  upload: { onprogress?: typeof onBytes } = {};
  onload: () => void = () => undefined;
  onabort: () => void = () => undefined;
  open() {}
  abort() {
    this.onabort();
  }
  setRequestHeader() {}
  getResponseHeader = () => null;
  send(form: FormData) {
    sent = [...form.keys()];
    onBytes = this.upload.onprogress;
    if (!answer) return;
    this.status = answer.status;
    this.responseText = answer.body;
    this.onload();
  }
}

beforeEach(() => {
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  vi.stubGlobal('XMLHttpRequest', Request);
});
afterEach(() => vi.unstubAllGlobals());

const send = () => upload(uploadFile, { id: 'a1' }, new File(['x'], 'x.csv'));

test('resolves with the response', async () => {
  answer = { status: 200, body: '{"revision_id":"r1"}' };
  await expect(send()).resolves.toEqual({ revision_id: 'r1' });
});

test('other fields precede the file', async () => {
  answer = { status: 200, body: '{}' };
  await upload(uploadFile, { id: 'a1' }, new File(['x'], 'x.csv'), { fields: { path: 'rows/x.csv' } });
  expect(sent).toEqual(['path', 'data_file']);
});

test('fails instead of hanging if the response is not from the server', async () => {
  answer = { status: 200, body: '<html>Sign in to the network</html>' };
  await expect(send()).rejects.toMatchObject({
    message: 'Failed to upload file.',
    status: 0,
    code: 'network',
  });
});

test('a rejection includes the reason', async () => {
  answer = { status: 400, body: '{"error":{"message":"x.csv is empty"}}' };
  await expect(send()).rejects.toMatchObject({ message: 'x.csv is empty', status: 400 });
});

test('reads started before the upload are not shared with later callers', async () => {
  answer = { status: 200, body: '{"revision_id":"r1"}' };
  void shareRead('files', undefined, () => new Promise(() => {}));
  await send();
  expect(await shareRead('files', undefined, async () => 'with x.csv')).toBe('with x.csv');
});

test('fails if no byte is accepted for two minutes', async () => {
  vi.useFakeTimers();
  answer = null;
  const sending = send();
  vi.advanceTimersByTime(110_000);
  onBytes?.({ loaded: 1, total: 2 });
  vi.advanceTimersByTime(110_000);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(10_000);
  await expect(sending).rejects.toMatchObject({
    message: 'The upload stopped: no data went through for two minutes. Check your connection and try again.',
    code: 'timeout',
  });
  vi.useRealTimers();
});

test('a response marks the server as online', async () => {
  const now = Date.now() + 60_000;
  vi.spyOn(Date, 'now').mockReturnValue(now);
  answer = { status: 400, body: '{"error":{"message":"x.csv is empty"}}' };
  await expect(send()).rejects.toThrow();
  expect(lastAnswer().getTime()).toBe(now);
  vi.restoreAllMocks();
});
