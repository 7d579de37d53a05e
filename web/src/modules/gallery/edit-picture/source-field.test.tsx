import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
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
});

function show(source: Source | null = null) {
  render(
    <form onSubmit={(event) => event.preventDefault()}>
      <textarea aria-label="Prompt" />
      <SourceField
        label="Picture"
        userId={undefined}
        source={source}
        onChange={onChange}
        problem={undefined}
      />
      <button type="submit">Generate</button>
    </form>,
  );
}

/** Returns true if the browser also pastes it. */
function paste(into: Element, name: string, types: string[]): boolean {
  const files = [new File(['bytes'], name, { type: 'image/png' })];
  return fireEvent.paste(into, { clipboardData: { files, types } });
}

const prompt = () => screen.getByLabelText('Prompt');

test('pasted text stays text even if its program also offers a picture of it', async () => {
  show();
  expect(paste(prompt(), 'cells.png', ['text/plain', 'text/html', 'Files'])).toBe(true);
  expect(paste(document.body, 'bread.png', ['text/plain', 'Files'])).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
});

test('accepts a picture pasted anywhere on the page', async () => {
  show();
  expect(paste(prompt(), 'bread.png', ['text/html', 'Files'])).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
});

test('keeps the later of two pictures even if checking the first takes longer', async () => {
  show();
  let look: (problem: string | null) => void = () => {};
  vi.mocked(pictureProblem).mockReturnValueOnce(new Promise((resolve) => (look = resolve)));
  paste(document.body, 'large.png', ['Files']);
  paste(document.body, 'bread.png', ['Files']);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
  await act(async () => look('The picture is damaged or incomplete'));
  expect(taken()).toEqual(['bread.png']);
  expect(screen.queryByText('The picture is damaged or incomplete')).toBeNull();
});

/** Returns true if the browser navigates to the file. */
function drop(on: Element, name: string): boolean {
  const dataTransfer = { files: [new File(['bytes'], name, { type: 'image/png' })], types: ['Files'] };
  fireEvent.dragOver(on, { dataTransfer });
  return fireEvent.drop(on, { dataTransfer });
}

test('handles a dropped picture once, inside its drop area, outside, or over another picture', async () => {
  show();
  expect(drop(prompt(), 'bread.png')).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png']));
  expect(drop(screen.getByText(/^PNG, JPEG or WebP/), 'roll.png')).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png', 'roll.png']));
  cleanup();
  show({ file: new File(['bytes'], 'first.png') });
  expect(drop(await screen.findByText('first.png'), 'second.png')).toBe(false);
  await waitFor(() => expect(taken()).toEqual(['bread.png', 'roll.png', 'second.png']));
});

test('a rejected picture leaves the current one, and its error stays until the form is submitted', async () => {
  show({ file: new File(['bytes'], 'first.png') });
  vi.mocked(pictureProblem).mockResolvedValueOnce('The picture is damaged or incomplete');
  paste(document.body, 'broken.png', ['Files']);
  await screen.findByText('The picture is damaged or incomplete. The previous picture is kept');
  expect(screen.getByText('first.png')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await waitFor(() => expect(screen.queryByText(/was rejected/)).toBeNull());
});
