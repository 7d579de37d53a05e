import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Select } from './select.tsx';

const breads = [
  { value: '', label: 'None' },
  { value: 'rye', label: 'Rye' },
  { value: 'spelt', label: 'Spelt' },
  { value: 'sour', label: 'Sourdough' },
  { value: 'soda', label: 'Soda bread', disabled: true },
];

function show(first: string | null) {
  function Form() {
    const [value, setValue] = useState(first);
    return <Select aria-label="Bread" value={value} onChange={setValue} options={breads} />;
  }
  render(<Form />);
  return screen.getByRole('combobox', { name: 'Bread' });
}

test('the button shows the selected label, even for an empty value', () => {
  expect(show('').textContent).toBe('None');
});

test('the button shows the placeholder if nothing is selected', () => {
  expect(show(null).textContent).toBe('Choose…');
});

test('typing a letter at the closed select selects the match without opening the list', async () => {
  const button = show('');
  await userEvent.tab();
  await userEvent.keyboard('s');
  expect(button.textContent).toBe('Spelt');
  expect(button.getAttribute('aria-expanded')).toBe('false');
});

test('an arrow key opens the list, and the button shows the selected option', async () => {
  show('');
  await userEvent.tab();
  await userEvent.keyboard('{ArrowDown}');
  await userEvent.click(await screen.findByRole('option', { name: 'Rye' }));
  expect(screen.getByRole('combobox', { name: 'Bread' }).textContent).toBe('Rye');
});
