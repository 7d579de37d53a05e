import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { uploadBytes } from '../../../../lib/api/upload.ts';
import { sha256 } from '../../../../lib/files/sha256.ts';
import { sendInParts } from './send-in-parts.ts';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../../../lib/api/upload.ts', () => ({ uploadBytes: vi.fn<typeof uploadBytes>() }));

const PART = 4;
const content = 'one two three';
const file = new File([content], 'words.txt');
const chosen = { file, path: 'words.txt' };
const hashOf = (text: string) => sha256(new TextEncoder().encode(text).buffer);
const done = { file: { path: 'words.txt' }, revision_id: 'r1' };

type Part = { number: number; sha256: string; size_bytes: number };
/** Parts on the server by upload id. */
let stored: Map<string, Part[]>;
let answers: unknown[];
let calls: string[];

beforeEach(() => {
  stored = new Map();
  answers = [];
  calls = [];
  vi.mocked(call).mockImplementation((async (
    endpoint: { method: string; path: string },
    { params }: { params: { uploadId?: string } },
  ) => {
    const name = `${endpoint.method} ${endpoint.path.split('/').at(-1)}`;
    calls.push(name);
    if (name === 'DELETE :uploadId') stored.delete(params.uploadId ?? '');
    if (name === 'POST complete') {
      const answer = answers.shift() ?? done;
      if (answer instanceof Error) throw answer;
      return answer;
    }
    if (name !== 'POST uploads') return undefined;
    const [id = `u${stored.size + 1}`] = stored.keys();
    if (!stored.has(id)) stored.set(id, []);
    const parts = stored.get(id) ?? [];
    return { upload_id: id, part_bytes: PART, part_count: 4, is_whole: false, parts };
  }) as never);
  vi.mocked(uploadBytes).mockImplementation((async (
    _endpoint: object,
    { params, query }: { params: { uploadId: string; number: string }; query: { sha256: string } },
    bytes: Blob,
  ) => {
    calls.push(`part ${params.number}: ${await bytes.text()}`);
    const part = { number: Number(params.number), sha256: query.sha256, size_bytes: bytes.size };
    stored.get(params.uploadId)?.push(part);
    return part;
  }) as never);
});
afterEach(() => vi.useRealTimers());

function send(signal = new AbortController().signal) {
  const progress: number[] = [];
  const stalled: boolean[] = [];
  const sending = sendInParts('asset', chosen, {
    signal,
    onProgress: (bytes) => progress.push(bytes),
    onStalled: (isStalled) => stalled.push(isStalled),
  });
  return { sending, progress, stalled };
}

/** Advances the fake clock until the upload has ended. */
async function passPauses(sending: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  sending.then(end, end);
  while (!ended) await vi.advanceTimersByTimeAsync(30_000);
}

test('sends every part with its hash, and completes after the last', async () => {
  vi.useFakeTimers();
  answers = [{ file: null, revision_id: null }];
  const { sending, progress } = send();
  await passPauses(sending);
  await expect(sending).resolves.toEqual(done);
  expect(calls[0]).toBe('POST uploads');
  expect(calls.slice(1, 5).toSorted()).toEqual(['part 1: one ', 'part 2: two ', 'part 3: thre', 'part 4: e']);
  // The first response reports that the file is still being assembled.
  expect(calls.slice(5)).toEqual(['POST complete', 'POST complete']);
  expect(progress.at(-1)).toBe(content.length);
  expect(stored.get('u1')).toContainEqual({ number: 2, sha256: await hashOf('two '), size_bytes: 4 });
});

test('resumes with the missing parts', async () => {
  stored.set('u1', [
    { number: 1, sha256: await hashOf('one '), size_bytes: 4 },
    { number: 3, sha256: await hashOf('thre'), size_bytes: 4 },
  ]);
  await send().sending;
  expect(calls.slice(1, 3).toSorted()).toEqual(['part 2: two ', 'part 4: e']);
});

test('starts again for another file of the same name and size', async () => {
  stored.set('u1', [{ number: 1, sha256: await hashOf('ONE '), size_bytes: 4 }]);
  await expect(send().sending).resolves.toEqual(done);
  expect(calls).toContain('DELETE :uploadId');
  expect(calls.filter((one) => one.startsWith('part 1'))).toEqual(['part 1: one ']);
});

test('sends parts again that the server has lost', async () => {
  answers = [new ApiError('The server has lost part 2. Send it again', { status: 409, param: 'parts' })];
  const { sending } = send();
  await vi.waitFor(() => expect(calls).toContain('POST complete'));
  await expect(sending).resolves.toEqual(done);
  expect(calls.filter((one) => one === 'POST uploads')).toHaveLength(2);
});

test.each([
  {
    what: 'loses parts after each attempt',
    answer: () => new ApiError('Send part 2 again', { status: 409, param: 'parts' }),
    calls: 6,
    message: 'Send part 2 again',
  },
  {
    what: 'never finishes assembling the file',
    answer: () => ({ file: null, revision_id: null }),
    calls: 60,
    message: 'The server is still assembling the file. Try again in a few minutes to continue.',
  },
])(
  'gives up after $calls calls with pauses if the server $what',
  async ({ answer, message, ...expected }) => {
    vi.useFakeTimers();
    answers = Array.from({ length: 200 }, () => answer());
    const completions = () => calls.filter((one) => one === 'POST complete').length;
    const { sending } = send();
    await passPauses(sending);
    await expect(sending).rejects.toThrow(message);
    expect(completions()).toBe(expected.calls);
  },
);

test('reports that it is waiting while the server is unreachable', async () => {
  vi.useFakeTimers();
  vi.mocked(uploadBytes).mockRejectedValueOnce(
    new ApiError('Failed to upload file.', { status: 0, code: 'network' }),
  );
  const { sending, stalled } = send();
  await vi.waitFor(() => expect(stalled).toEqual([true]));
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(sending).resolves.toEqual(done);
  expect(stalled).toEqual([true, false]);
});

test('does not retry a rejected request', async () => {
  vi.mocked(uploadBytes).mockRejectedValue(new ApiError('There is no room left', { status: 413 }));
  await expect(send().sending).rejects.toThrow('There is no room left');
  expect(calls).toEqual(['POST uploads']);
});

test('stops on its signal and leaves the parts on the server', async () => {
  const stop = new AbortController();
  vi.mocked(uploadBytes).mockImplementation(
    ((_endpoint: object, _where: object, _bytes: Blob, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        const cancel = () => reject(new ApiError('Cancelled', { status: 0, code: 'aborted' }));
        signal.addEventListener('abort', cancel);
        if (signal.aborted) cancel();
        stop.abort();
      })) as never,
  );
  await expect(send(stop.signal).sending).rejects.toMatchObject({ code: 'aborted' });
  expect(calls).toEqual(['POST uploads']);
});
