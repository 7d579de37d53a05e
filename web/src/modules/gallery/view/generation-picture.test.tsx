import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { generationOf, unfinished } from '../testing/generation-of.ts';
import { GenerationPicture } from './generation-picture.tsx';

const show = (generation = generationOf()) =>
  render(
    <QueryClientProvider client={queryClient}>
      <GenerationPicture generation={generation} />
    </QueryClientProvider>,
  ).container;

test('a finished generation shows its picture with the prompt as alt text and its size', () => {
  show();
  const picture = screen.getByRole('img', { name: 'A loaf of bread' });
  expect([picture.getAttribute('width'), picture.getAttribute('height')]).toEqual(['128', '128']);
});

test('shows the queue position while waiting, and the progress while generating', () => {
  show(unfinished({ state: 'queued', reason: '2 pictures ahead of yours', step: 0, started_at: null }));
  expect(screen.getByText('2 pictures ahead of yours')).toBeTruthy();
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBeNull();
  show(unfinished({ preview: 'data:image/jpeg;base64,AA==' }));
  expect(screen.getByText('Step 5 of 20')).toBeTruthy();
  expect(document.querySelector('img')?.getAttribute('src')).toBe('data:image/jpeg;base64,AA==');
});

test('shows that a generation started by a service cannot be cancelled', () => {
  const asked = { provider: 'upstream' as const, service: 'fal' };
  show(unfinished({ ...asked, state: 'starting', reason: 'Queued at fal, 2 ahead of yours' }));
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeTruthy();
  cleanup();
  show(unfinished({ ...asked, reason: 'fal is generating it' }));
  expect(screen.getByText('fal has started, so it can no longer be cancelled')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull();
  cleanup();
  show(unfinished());
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeTruthy();
});

test('a partial delivery shows above the pictures what is missing', () => {
  show(generationOf({ reason: '2 of 4 pictures could not be delivered and were not charged.' }));
  expect(screen.getByText('2 of 4 pictures could not be delivered and were not charged.')).toBeTruthy();
  expect(screen.getByRole('img', { name: 'A loaf of bread' })).toBeTruthy();
});

test.each([
  [
    'failed',
    'The image was corrupted',
    'The picture could not be generatedThe image was corrupted. You were not charged.',
  ],
  ['failed', '', 'The picture could not be generatedYou were not charged.'],
  ['cancelled', 'Cancelled', 'CancelledYou were not charged.'],
] as const)('a generation that is %s (%s) shows once why, and that it was free', (state, reason, text) => {
  expect(show(generationOf({ state, reason, outputs: [] })).textContent).toBe(text);
});
