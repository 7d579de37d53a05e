import type { Generation } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import { endOf } from './use-generation-work.ts';

const end = (state: 'completed' | 'failed' | 'cancelled', pathname = '/dashboard', reason = '') =>
  endOf({ state, generator: 'paris', prompt: 'A loaf', reason, source: null }, pathname);

test('announces a finished picture on every page, with special wording on the Paris page', () => {
  expect(end('completed')).toEqual({
    kind: 'success',
    title: 'Image Generation Completed!',
    description: 'A loaf',
  });
  expect(end('completed', '/dashboard', '2 of 4 pictures could not be delivered.').description).toBe(
    '2 of 4 pictures could not be delivered.',
  );
  expect(end('completed', '/paris').title).toBe('Paris images generated successfully!');
  expect(end('completed', '/bakery/paris').title).toBe('Paris images generated successfully!');
});

test('reports why a generation failed and what it cost', () => {
  expect(end('failed', '/gallery', 'The image was corrupted')).toMatchObject({
    kind: 'failure',
    description: 'The image was corrupted. You were not charged.',
    isOnScreen: false,
  });
  expect(end('cancelled', '/gallery')).toMatchObject({
    kind: 'info',
    title: 'Generation cancelled',
    description: 'You were not charged.',
    isOnScreen: false,
  });
});

test("a failure needs no toast on the generator's own page, which shows it", () => {
  for (const state of ['failed', 'cancelled'] as const)
    expect(end(state, '/paris')).toMatchObject({ isOnScreen: true });
});

test('a failed edit has its own message', () => {
  const failed = (reason: string) =>
    endOf(
      { state: 'failed', generator: 'flux-kontext', prompt: 'A hat', reason, source: {} },
      '/flux-kontext',
    );
  expect(failed('The image was corrupted')).toEqual({
    kind: 'failure',
    title: 'Image editing failed: The image was corrupted',
    description: 'You were not charged.',
  });
  expect(failed('').title).toBe('Image editing failed: The picture could not be edited');
});

test('shortens a long prompt', () => {
  const { description } = endOf(
    { state: 'completed', generator: 'paris', prompt: 'bread '.repeat(50), reason: '', source: null },
    '/',
  );
  expect(description).toHaveLength(100);
  expect(description?.endsWith('…')).toBe(true);
});

test('a video has its own messages', () => {
  const video = { generator: 'veo', prompt: 'A loaf rises', source: { url: 'x' } } as const;
  const endOfVideo = (state: Generation['state'], reason = '') => endOf({ ...video, state, reason }, '/veo');
  expect(endOfVideo('completed')).toEqual({
    kind: 'success',
    title: 'Video generation completed!',
    description: 'A loaf rises',
  });
  const allowlist =
    'Video generation not available for your account. Please contact support for allowlist access';
  expect(endOfVideo('failed', allowlist)).toEqual({
    kind: 'failure',
    title: 'Video generation failed',
    description: `${allowlist}. You were not charged.`,
  });
  expect(endOfVideo('cancelled')).toMatchObject({ kind: 'info', title: 'Generation cancelled' });
});
