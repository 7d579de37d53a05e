import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, renderHook, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { Button } from '../../ui/button.tsx';
import { queryClient } from '../api/query-client.ts';
import { useMutation } from './use-mutation.ts';

const wrapper = ({ children }: { children: React.ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

/** A write that the test completes. */
function slowWrite() {
  const answers: (() => void)[] = [];
  const write = vi.fn(
    (_what: unknown) => new Promise<string>((answer) => answers.push(() => answer('done'))),
  );
  return { write, answer: () => answers.shift()?.() };
}

test('two clicks in the same tick write and report once, and a later click writes again', async () => {
  const { write, answer } = slowWrite();
  const onSuccess = vi.fn();
  function Grant() {
    const grant = useMutation({ mutationFn: write });
    return (
      <Button loading={grant.isPending} onClick={() => grant.mutate({ amount: '5' }, { onSuccess })}>
        Grant
      </Button>
    );
  }
  render(<Grant />, { wrapper });
  const button = screen.getByRole('button', { name: 'Grant' });
  act(() => {
    button.click();
    button.click();
  });
  await waitFor(() => expect(write).toHaveBeenCalled());
  await act(async () => answer());
  await waitFor(() => expect(button.getAttribute('aria-busy')).toBeNull());
  expect(write).toHaveBeenCalledTimes(1);
  expect(onSuccess).toHaveBeenCalledTimes(1);
  act(() => button.click());
  await waitFor(() => expect(write).toHaveBeenCalledTimes(2));
});

test('other variables start another write, and so does another file', async () => {
  const { write } = slowWrite();
  const { result } = renderHook(() => useMutation({ mutationFn: write }), { wrapper });
  const file = () => ({ source: new File(['x'], 'x.png') });
  for (const what of ['run-1', 'run-2', 'run-1', file(), file()]) act(() => result.current.mutate(what));
  await waitFor(() => expect(write).toHaveBeenCalledTimes(4));
});

test('a failed write can be retried', async () => {
  const write = vi.fn(() => Promise.reject(new Error('No')));
  const { result } = renderHook(() => useMutation({ mutationFn: write }), { wrapper });
  act(() => result.current.mutate());
  await waitFor(() => expect(result.current.isError).toBe(true));
  act(() => result.current.mutate());
  await waitFor(() => expect(write).toHaveBeenCalledTimes(2));
});

test('after a reset, the same variables start a new write with its own callbacks', async () => {
  const { write, answer } = slowWrite();
  const { result } = renderHook(() => useMutation({ mutationFn: write }), { wrapper });
  const [before, after] = [vi.fn(), vi.fn()];
  act(() => result.current.mutate('choice', { onSuccess: before }));
  await waitFor(() => expect(write).toHaveBeenCalledTimes(1));
  act(() => result.current.reset());
  act(() => result.current.mutate('choice', { onSuccess: after }));
  await waitFor(() => expect(write).toHaveBeenCalledTimes(2));
  await act(async () => answer());
  // A write from before the reset doesn't complete the current one.
  act(() => result.current.mutate('choice'));
  await act(async () => answer());
  await waitFor(() => expect(after).toHaveBeenCalledTimes(1));
  expect(before).not.toHaveBeenCalled();
  expect(write).toHaveBeenCalledTimes(2);
});
