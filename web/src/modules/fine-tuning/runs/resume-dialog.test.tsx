import type { Run } from '@bakehouse/contract/runs';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { ResumeButton, ResumeDialog } from './resume-dialog.tsx';
import { useResumeRun } from './run-calls.ts';

vi.mock('./run-calls.ts', () => ({ useResumeRun: vi.fn<typeof useResumeRun>() }));

const run = {
  run_id: 'r1',
  step: 4,
  stop_reason: 'ceiling',
  ceiling: '15',
  cost_so_far: '15',
  resume_hold: '4',
  resume_unpaid: null,
  resume_ceiling: '21',
} as Run;

test('sends only a ceiling that the user typed', () => {
  const mutate = vi.fn();
  vi.mocked(useResumeRun).mockReturnValue({ mutate, reset: vi.fn(), isPending: false } as never);
  render(<ResumeDialog run={run} open onClose={() => undefined} />);
  screen.getByText('Resume with a higher limit?');
  screen.getByText(/^It continues from its last checkpoint/);
  const resume = screen.getByRole('button', { name: 'Resume' });
  fireEvent.click(resume);
  expect(mutate.mock.lastCall?.[0]).toBe('');

  const field = screen.getByLabelText('Spending limit');
  fireEvent.change(field, { target: { value: 'much' } });
  fireEvent.click(resume);
  expect(mutate).toHaveBeenCalledTimes(1);
  fireEvent.change(field, { target: { value: '40' } });
  fireEvent.click(resume);
  // Typed in dollars, sent in BGL.
  expect(mutate.mock.lastCall?.[0]).toBe('1000');
});

test('warns if the ceiling is below the expected remaining cost', () => {
  vi.mocked(useResumeRun).mockReturnValue({ reset: vi.fn(), isPending: false } as never);
  render(<ResumeDialog run={run} open onClose={() => undefined} />);
  const type = (value: string) =>
    fireEvent.change(screen.getByLabelText('Spending limit'), { target: { value } });
  type('0.7');
  screen.getByText(/^This is less than the \$0\.76 that the run is expected to cost/);
  type('0.76');
  expect(screen.queryByText(/^This is less than/)).toBeNull();
});

test('is offered only for resumable runs', () => {
  vi.mocked(useResumeRun).mockReturnValue({ reset: vi.fn(), isPending: false } as never);
  const { rerender } = render(<ResumeButton run={run} />);
  screen.getByRole('button', { name: 'Resume with a higher limit' });
  rerender(<ResumeButton run={{ ...run, resume_hold: null }} />);
  expect(screen.queryByRole('button')).toBeNull();
});

test('a dialog that closes because the run resumes keeps its text', () => {
  vi.mocked(useResumeRun).mockReturnValue({ mutate: vi.fn(), reset: vi.fn(), isPending: false } as never);
  const { rerender } = render(<ResumeDialog run={run} open onClose={() => undefined} />);
  const asked = screen.getByRole('alertdialog').textContent;
  expect(asked).toContain('Up to $0.16 is held');
  const goesOn: Run = { ...run, stop_reason: null, resume_hold: null, resume_ceiling: null };
  rerender(<ResumeDialog run={goesOn} open onClose={() => undefined} />);
  expect(screen.getByRole('alertdialog').textContent).toBe(asked);
});

test('shows which saved work is still to be charged, if any', () => {
  vi.mocked(useResumeRun).mockReturnValue({ mutate: vi.fn(), reset: vi.fn(), isPending: false } as never);
  const text = /has not been charged yet, and the rest/;
  const failed: Run = { ...run, state: 'failed' };
  const { rerender } = render(<ResumeDialog run={failed} open onClose={() => undefined} />);
  expect(screen.queryByText(text)).toBeNull();
  rerender(
    <ResumeDialog run={{ ...run, state: 'cancelled', resume_unpaid: '2' }} open onClose={() => undefined} />,
  );
  screen.getByText(text);
});

test('shows a rejection below the field, and Enter retries', () => {
  const mutate = vi.fn();
  const close = vi.fn();
  const error = new ApiError('The run has cost 15 BGL so far', { status: 400, param: 'ceiling' });
  vi.mocked(useResumeRun).mockReturnValue({ mutate, reset: vi.fn(), isPending: false, error } as never);
  render(<ResumeDialog run={run} open onClose={close} />);
  const field = screen.getByLabelText('Spending limit');
  expect(field.getAttribute('aria-invalid')).toBe('true');
  fireEvent.submit(field);
  expect(mutate.mock.lastCall?.[0]).toBe('');
  expect(mutate.mock.lastCall?.[1]).not.toHaveProperty('onSettled');
  expect(close).not.toHaveBeenCalled();
});

test('other rejections do not mark the ceiling as invalid', () => {
  const text =
    'The dataset ‘Breads’ was deleted or is no longer shared with you, and the run cannot continue without it';
  const error = new ApiError(text, { status: 409 });
  vi.mocked(useResumeRun).mockReturnValue({
    mutate: vi.fn(),
    reset: vi.fn(),
    isPending: false,
    error,
  } as never);
  render(<ResumeDialog run={run} open onClose={() => undefined} />);
  screen.getByText(text);
  expect(screen.getByLabelText('Spending limit').getAttribute('aria-invalid')).not.toBe('true');
});
