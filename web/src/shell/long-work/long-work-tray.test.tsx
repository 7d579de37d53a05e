import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import type { LongWork } from '../../ui/long-work.ts';
import { LongWorkTray } from './long-work-tray.tsx';

const work = vi.hoisted(() => ({ value: [] as LongWork[] }));
vi.mock('./use-long-work.ts', () => ({ useLongWork: () => work.value }));

const upload = { id: 'upload-1', title: 'rows.csv', phase: 'Uploading', progress: 40, end: null };
beforeEach(() => {
  work.value = [];
});

it('is shown while tasks run, and names them', async () => {
  const { rerender } = render(<LongWorkTray />);
  expect(screen.queryByRole('button')).toBeNull();
  const cancel = vi.fn();
  work.value = [
    { ...upload, cancel: { run: cancel } },
    { ...upload, id: 'upload-2', end: { kind: 'success', title: 'done' } },
    { ...upload, id: 'deployment-1-serving', isUnlisted: true },
  ];
  rerender(<LongWorkTray />);
  await act(async () => fireEvent.click(screen.getByRole('button', { name: '1 task in progress' })));
  const bars = await screen.findAllByRole('progressbar');
  expect(bars.map((bar) => bar.getAttribute('aria-valuenow'))).toEqual(['40']);
  expect(screen.getByText('Uploading')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel rows.csv' }));
  expect(cancel).toHaveBeenCalledOnce();
});

it('asks before cancelling tasks that would lose work, and keeps permanently failed tasks listed', async () => {
  const cancel = vi.fn();
  const question = { title: 'Cancel this run?', description: 'It is saved.', action: 'Cancel run' };
  work.value = [
    { ...upload, id: 'run-1', title: 'Baker', cancel: { question, run: cancel } },
    {
      ...{ ...upload, id: 'preparation-1' },
      end: {
        kind: 'failure',
        title: 'Serving could not be prepared',
        description: 'No disk',
        isListed: true,
      },
    },
  ];
  render(<LongWorkTray />);
  await act(async () =>
    fireEvent.click(screen.getByRole('button', { name: '1 task in progress, 1 failed' })),
  );
  expect(await screen.findByText('Serving could not be prepared')).toBeTruthy();
  expect(screen.getByText('No disk')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel Baker' }));
  expect(cancel).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel run' }));
  expect(cancel).toHaveBeenCalledOnce();
});
