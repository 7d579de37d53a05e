import { renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useUploads } from './uploads.ts';
import { useSeenUpload } from './use-seen-upload.ts';

vi.mock('./uploads.ts', () => ({ useUploads: vi.fn<typeof useUploads>() }));

test('an upload stays seen after it has ended, until another asset is shown', () => {
  vi.mocked(useUploads).mockReturnValue([]);
  const { result, rerender } = renderHook(useSeenUpload, { initialProps: 'rye' });
  expect(result.current).toBe(false);
  vi.mocked(useUploads).mockReturnValue([{ id: 'u1' }] as never);
  rerender('rye');
  expect(result.current).toBe(true);
  vi.mocked(useUploads).mockReturnValue([]);
  rerender('rye');
  expect(result.current).toBe(true);
  for (const id of ['spelt', 'rye']) {
    rerender(id);
    expect(result.current).toBe(false);
  }
});
