import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { pictureProblem } from './picture-problem.ts';
import type { Source } from './source.ts';
import { SourceField } from './source-field.tsx';

vi.mock('./picture-problem.ts', () => ({ pictureProblem: vi.fn<typeof pictureProblem>() }));

const onChange = vi.fn<(source: Source | null) => void>();
const taken = () =>
  onChange.mock.calls.map(([source]) => (source && 'file' in source ? source.file.name : null));

beforeEach(() => {
  onChange.mockReset();
  vi.mocked(pictureProblem).mockReset().mockResolvedValue(null);
  render(
    <>
      <textarea aria-label="Prompt" />
      <SourceField label="Picture" source={null} onChange={onChange} problem={undefined} />
    </>,
  );
});

/** Returns whether the browser pastes it too. */
function paste(into: Element, name: string, types: string[]): boolean {
  const files = [new File(['bytes'], name, { type: 'image/png' })];
  return fireEvent.paste(into, { clipboardData: { files, types } });
}

const prompt = () => screen.getByLabelText('Prompt');

test('text that is pasted into a field stays text, though its program offers a picture of it', async () => {
  expect(paste(prompt(), 'cells.png', ['text/plain', 'text/html', 'Files'])).toBe(true);
  expect(paste(document.body, 'bread.png', ['text/plain', 'Files'])).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
});

test('a picture is taken wherever it is pasted', async () => {
  expect(paste(prompt(), 'bread.png', ['text/html', 'Files'])).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
});

test('of two pictures the later one is taken, however long the first is looked at', async () => {
  let look: (problem: string | null) => void = () => {};
  vi.mocked(pictureProblem).mockReturnValueOnce(new Promise((resolve) => (look = resolve)));
  paste(document.body, 'large.png', ['Files']);
  paste(document.body, 'bread.png', ['Files']);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
  await act(async () => look('The picture is damaged or incomplete'));
  expect(taken()).toEqual(['bread.png']);
  expect(screen.queryByText('The picture is damaged or incomplete')).toBeNull();
});
