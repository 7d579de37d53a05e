import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Field } from './field.tsx';
import { TagInput } from './tag-input.tsx';

function Tags({ max }: { max?: number }) {
  const [tags, setTags] = useState<string[]>([]);
  return (
    <Field label="Tags">
      <TagInput tags={tags} onChange={setTags} max={max} />
    </Field>
  );
}

const shown = () => screen.queryAllByRole('listitem').map((item) => item.textContent);

test('Enter adds a trimmed, unique tag, and each tag can be removed', async () => {
  render(<Tags />);
  await userEvent.type(screen.getByLabelText('Tags'), ' rye {Enter}{Enter}wheat{Enter}rye{Enter}');
  expect(shown()).toEqual(['rye', 'wheat']);
  await userEvent.click(screen.getByRole('button', { name: 'Remove the tag rye' }));
  expect(shown()).toEqual(['wheat']);
  await userEvent.type(screen.getByLabelText('Tags'), '{Backspace}');
  expect(shown()).toEqual([]);
});

test('a comma ends a tag, typed or pasted', async () => {
  render(<Tags />);
  await userEvent.type(screen.getByLabelText('Tags'), 'rye, wheat');
  await userEvent.paste(' bread, rye, spelt');
  await userEvent.tab();
  expect(shown()).toEqual(['rye', 'wheat bread', 'spelt']);
});

test('Enter during IME composition adds nothing', async () => {
  render(<Tags />);
  const field = screen.getByLabelText('Tags');
  await userEvent.type(field, 'パン');
  fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
  expect(shown()).toEqual([]);
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(shown()).toEqual(['パン']);
});

test('enforces the maximum number of tags', async () => {
  render(<Tags max={1} />);
  await userEvent.type(screen.getByLabelText('Tags'), 'rye{Enter}');
  expect(screen.getByPlaceholderText('At most 1 tags')).toHaveProperty('disabled', true);
});

test('an overlong tag is added whole and marked', async () => {
  render(<Tags />);
  await userEvent.click(screen.getByLabelText('Tags'));
  await userEvent.paste('r'.repeat(60));
  await userEvent.keyboard('{Enter}rye{Enter}');
  expect(shown()).toEqual(['r'.repeat(60), 'rye']);
  const isMarked = (tag: string) => screen.getByText(tag).parentElement?.className.includes('text-bad');
  expect([isMarked('r'.repeat(60)), isMarked('rye')]).toEqual([true, false]);
});
