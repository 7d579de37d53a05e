import { renderHook } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { expectEnd, type LongWork } from '../../ui/long-work.ts';
import { notify } from '../../ui/notify.ts';
import { useEndToasts } from './use-end-toasts.ts';

const run = (end: LongWork['end'], id = 'run-1'): LongWork => ({
  id,
  title: 'Baker',
  phase: 'Training',
  progress: 40,
  end,
});

it('announces once how observed tasks ended, and ignores tasks that ended before', () => {
  const success = vi.spyOn(notify, 'success').mockImplementation(() => undefined);
  const done = { kind: 'success', title: 'Baker is trained' } as const;
  const { rerender } = renderHook(({ work }) => useEndToasts(work), { initialProps: { work: [run(done)] } });
  expect(success).not.toHaveBeenCalled();
  rerender({ work: [run(null)] });
  rerender({ work: [run(done)] });
  rerender({ work: [run(done)] });
  expect(success).toHaveBeenCalledExactlyOnceWith('Baker is trained', { id: 'run-1' });
});

it('announces the end of a task started here, even if it ended before it was first listed', () => {
  const success = vi.spyOn(notify, 'success').mockImplementation(() => undefined);
  const done = { kind: 'success', title: 'Deployed' } as const;
  const { rerender } = renderHook(({ work }) => useEndToasts(work), {
    initialProps: { work: [] as LongWork[] },
  });
  expectEnd('deployment-1');
  rerender({ work: [run(done, 'deployment-1')] });
  rerender({ work: [run(done, 'deployment-1')] });
  expect(success).toHaveBeenCalledExactlyOnceWith('Deployed', { id: 'deployment-1' });
});
