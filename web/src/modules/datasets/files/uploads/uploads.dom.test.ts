import { act, renderHook } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { setCredentials } from '../../../../lib/api/credentials.ts';
import { upload } from '../../../../lib/api/upload.ts';
import { broadcastSession } from '../../../../lib/session/session-channel.ts';
import { sendInParts } from './send-in-parts.ts';
import { abandonPath } from './unfinished-uploads.ts';
import {
  cancelUploads,
  dismissUpload,
  PARTS_FROM_BYTES,
  pauseUpload,
  removeUpload,
  uploadFiles,
  useUploadBatches,
  useUploads,
} from './uploads.ts';

vi.mock('../../../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));
vi.mock('./send-in-parts.ts', () => ({ sendInParts: vi.fn<typeof sendInParts>() }));
vi.mock('./unfinished-uploads.ts', () => ({
  abandonPath: vi.fn<typeof abandonPath>(),
  readUnfinishedAgain: () => undefined,
}));

const file = (name: string, path = name) => ({ file: new File(['text'], name), path });
const uploaded = (path: string) => ({ file: { path }, revision_id: `with ${path}` });
/** Returns true if the browser asks before leaving the page. */
const isHeld = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
/** An upload that never ends until it is cancelled. */
const untilCancelled: typeof upload = (_endpoint, _params, _file, options) =>
  new Promise((_resolve, reject) => {
    options?.signal?.addEventListener('abort', () =>
      reject(new ApiError('Cancelled', { status: 0, code: 'aborted' })),
    );
  });

it('uploads the files of an asset one after another, and keeps only failed ones', async () => {
  const order: string[] = [];
  vi.mocked(upload).mockImplementation((_endpoint, _params, { name }) => {
    order.push(name);
    return name === 'b.csv'
      ? Promise.reject(new ApiError('b.csv is empty', { status: 400 }))
      : Promise.resolve(uploaded(name) as never);
  });
  const { result } = renderHook(() => useUploads('asset'));
  await act(async () => {
    const outcome = await uploadFiles('asset', [file('a.csv'), file('b.csv'), file('c.csv')]);
    expect(outcome).toMatchObject({
      done: [uploaded('a.csv'), uploaded('c.csv')],
      failed: [{ path: 'b.csv', error: 'b.csv is empty' }],
    });
  });
  expect(order).toEqual(['a.csv', 'b.csv', 'c.csv']);
  expect(result.current.map((one) => one.path)).toEqual(['b.csv']);
  act(() => dismissUpload(result.current[0]?.id ?? ''));
  expect(result.current).toEqual([]);
});

it('sends the path of a file in a folder, otherwise its name', async () => {
  vi.mocked(upload).mockReset().mockResolvedValue(uploaded('config.json'));
  await uploadFiles('folders', [file('config.json'), file('config.json', 'vae/config.json')]);
  expect(vi.mocked(upload).mock.calls.map(([, , , options]) => options?.fields)).toEqual([
    {},
    { path: 'vae/config.json' },
  ]);
});

it('a cancelled file counts neither as uploaded nor as failed, and a waiting one is never sent', async () => {
  vi.mocked(upload).mockReset().mockImplementation(untilCancelled);
  const { result } = renderHook(() => useUploads('other'));
  let outcome: Promise<unknown> = Promise.resolve();
  await act(async () => {
    outcome = uploadFiles('other', [file('a.csv'), file('b.csv')]);
    await vi.waitFor(() => expect(upload).toHaveBeenCalledOnce());
  });
  const [sending, waiting] = result.current;
  act(() => dismissUpload(waiting?.id ?? ''));
  act(() => dismissUpload(sending?.id ?? ''));
  await expect(outcome).resolves.toEqual({ done: [], failed: [], paused: [] });
  expect(upload).toHaveBeenCalledOnce();
  expect(result.current).toEqual([]);
});

it('leaving the page asks while a file is waiting or uploading', async () => {
  vi.mocked(upload).mockReset().mockImplementation(untilCancelled);
  expect(isHeld()).toBe(false);
  const outcome = uploadFiles('held', [file('a.csv'), file('b.csv')]);
  const { result } = renderHook(() => useUploads('held'));
  const [sending, waiting] = result.current;
  expect(isHeld()).toBe(true);
  act(() => dismissUpload(waiting?.id ?? ''));
  expect(isHeld()).toBe(true);
  await vi.waitFor(() => expect(upload).toHaveBeenCalledOnce());
  await act(async () => {
    dismissUpload(sending?.id ?? '');
    await outcome;
  });
  expect(isHeld()).toBe(false);
});

it('a failed file does not block leaving the page', async () => {
  vi.mocked(upload)
    .mockReset()
    .mockRejectedValue(new ApiError('a.csv is empty', { status: 400 }));
  await uploadFiles('failed', [file('a.csv')]);
  expect(isHeld()).toBe(false);
});

it.each([
  ['they sign out', { type: 'signed-out', userId: 'ada' }],
  ['another user signs in', { type: 'signed-in', userId: 'eve' }],
] as const)("stops and hides a user's uploads once %s", async (_how, message) => {
  vi.mocked(upload).mockReset().mockImplementation(untilCancelled);
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  const outcome = uploadFiles('left', [file('a.csv'), file('b.csv')]);
  const { result } = renderHook(() => useUploads('left'));
  await vi.waitFor(() => expect(upload).toHaveBeenCalledOnce());
  // In another tab.
  act(() => broadcastSession({ type: 'signed-in', userId: 'ada' }));
  expect(result.current).toHaveLength(2);
  await act(async () => {
    broadcastSession(message);
    await expect(outcome).resolves.toEqual({ done: [], failed: [], paused: [] });
  });
  expect(upload).toHaveBeenCalledOnce();
  expect(result.current).toEqual([]);
  expect(isHeld()).toBe(false);
});

it('uploads a large file in parts, can pause and resume it, and leaves nothing after cancelling', async () => {
  const large = file('weights.bin');
  Object.defineProperty(large.file, 'size', { value: PARTS_FROM_BYTES });
  vi.mocked(sendInParts).mockImplementation(
    (_assetId, _chosen, { signal, onProgress, onStalled }) =>
      new Promise((_resolve, reject) => {
        onProgress(PARTS_FROM_BYTES / 2);
        onStalled(true);
        signal.addEventListener('abort', () =>
          reject(new ApiError('Cancelled', { status: 0, code: 'aborted' })),
        );
      }),
  );
  const { result } = renderHook(() => useUploads('large'));
  const begin = async () => {
    const outcome = uploadFiles('large', [large]);
    await vi.waitFor(() => expect(result.current[0]?.isStalled).toBe(true));
    return { outcome, id: result.current[0]?.id ?? '' };
  };
  let begun = await act(begin);
  await act(async () => {
    pauseUpload(begun.id);
    await expect(begun.outcome).resolves.toMatchObject({
      done: [],
      failed: [],
      paused: [{ path: 'weights.bin' }],
    });
  });
  expect(result.current).toMatchObject([
    { state: 'paused', sentBytes: PARTS_FROM_BYTES / 2, isStalled: false },
  ]);
  expect(isHeld()).toBe(false);
  act(() => removeUpload(begun.id));
  expect(abandonPath).not.toHaveBeenCalled();

  begun = await act(begin);
  await act(async () => {
    dismissUpload(begun.id);
    await begun.outcome;
  });
  expect(result.current).toEqual([]);
  expect(abandonPath).toHaveBeenCalledExactlyOnceWith('large', 'weights.bin');
});

it('summarizes the files of an asset as one batch, which changes only by file and by percent', async () => {
  const sent: ((bytes: number) => void)[] = [];
  vi.mocked(upload)
    .mockReset()
    .mockImplementation((_endpoint, _params, { name }, options) => {
      sent.push((bytes) => options?.onProgress?.(bytes, 9_996));
      return name === 'a.csv'
        ? Promise.resolve(uploaded(name) as never)
        : untilCancelled(_endpoint, _params, new File([], name), options);
    });
  const { result } = renderHook(() => useUploadBatches());
  const large = { file: new File(['x'.repeat(9_996)], 'b.csv'), path: 'b.csv' };
  let outcome: Promise<unknown> = Promise.resolve();
  await act(async () => {
    outcome = uploadFiles('many', [file('a.csv'), large, file('c.csv')]);
    await vi.waitFor(() => expect(sent).toHaveLength(2));
  });
  const batch = { assetId: 'many', path: 'b.csv', sizeBytes: 10_004, files: 3, filesDone: 1, percent: 0 };
  expect(result.current).toEqual([batch]);
  const before = result.current;
  act(() => sent[1]?.(50));
  expect(result.current).toBe(before);
  act(() => sent[1]?.(5_000));
  expect(result.current).toEqual([{ ...batch, percent: 50 }]);
  act(() => cancelUploads('many'));
  await expect(outcome).resolves.toMatchObject({ done: [uploaded('a.csv')], failed: [] });
  expect(result.current).toEqual([]);
});
