import { beforeEach, expect, test, vi } from 'vitest';
import { call, callRaw } from '../../../lib/api/api-client.ts';
import { upload } from '../../../lib/api/upload.ts';
import { generationOf } from '../testing/generation-of.ts';
import { sendMask, sendSource } from './send-source.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({
  call: vi.fn<typeof call>(),
  callRaw: vi.fn<typeof callRaw>(),
}));
vi.mock('../../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));

beforeEach(() => {
  vi.resetAllMocks();
  vi.mocked(upload).mockResolvedValue({ id: 'p1' });
});

const edited = (generationId: string | null, outputId: string | null = null, maskUrl: string | null = null) =>
  generationOf({
    source: {
      generation_id: generationId,
      output_id: outputId,
      url: '/s.png',
      thumbnail_url: '/s.png',
      mask_url: maskUrl,
      media_type: 'image/png',
      width: 1,
      height: 1,
    },
  });
const nothing = () => undefined;

test('uploads a file once, and never uploads a generated picture', async () => {
  const source = { file: new File(['bytes'], 'bread.png') };
  expect(await sendSource(source, nothing)).toEqual({ picture_id: 'p1' });
  expect(await sendSource(source, nothing)).toEqual({ picture_id: 'p1' });
  expect(upload).toHaveBeenCalledOnce();
  expect(await sendSource({ generationId: 'g1' }, nothing)).toEqual({ source_generation_id: 'g1' });
  expect(upload).toHaveBeenCalledOnce();
  const second = { source_generation_id: 'g1', source_output_id: 'o2' };
  expect(await sendSource({ generationId: 'g1', outputId: 'o2' }, nothing)).toEqual(second);
});

test("names an edit's source as the edit did, and uploads an uploaded source again", async () => {
  vi.mocked(call).mockResolvedValueOnce(edited('g0', 'o2'));
  const named = { source_generation_id: 'g0', source_output_id: 'o2' };
  expect(await sendSource({ sameAsId: 'e1' }, nothing)).toEqual(named);
  expect(upload).not.toHaveBeenCalled();

  vi.mocked(call).mockResolvedValueOnce(edited(null));
  vi.mocked(callRaw).mockResolvedValueOnce(new Response('bytes'));
  expect(await sendSource({ sameAsId: 'e2' }, nothing)).toEqual({ picture_id: 'p1' });
  expect(vi.mocked(callRaw).mock.calls[0]?.[1]).toMatchObject({ query: { url: '/s.png' } });
  const [, , file] = vi.mocked(upload).mock.lastCall ?? [];
  expect(await file?.text()).toBe('bytes');
});

test('uploads a mask once, and that of an earlier edit unless it was removed', async () => {
  const painted = new File(['painted'], 'mask.png');
  const source = { file: new File(['bytes'], 'bread.png') };
  expect(await sendMask(source, painted)).toBe('p1');
  expect(await sendMask(source, painted)).toBe('p1');
  expect(upload).toHaveBeenCalledOnce();
  expect(await sendMask(source, undefined)).toBeUndefined();

  const again = { sameAsId: 'e1' };
  vi.mocked(call).mockResolvedValue(edited('g0', 'o2', '/m.png'));
  vi.mocked(callRaw).mockResolvedValueOnce(new Response('earlier'));
  expect(await sendMask(again, null)).toBeUndefined();
  expect(await sendMask(again, undefined)).toBe('p1');
  expect(await sendMask(again, undefined)).toBe('p1');
  expect(await sendMask(again, null)).toBeUndefined();
  expect(upload).toHaveBeenCalledTimes(2);
  expect(await vi.mocked(upload).mock.lastCall?.[2].text()).toBe('earlier');
});

test('a picture made from its prompt alone has no source', async () => {
  vi.mocked(call).mockResolvedValueOnce(generationOf());
  await expect(sendSource({ sameAsId: 'g1' }, nothing)).rejects.toThrow(
    'That picture was made from a prompt only and has no source',
  );
});
