import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { CheckboxGroup } from './checkbox-group.tsx';
import { type FormField, FormFields } from './form-fields.tsx';

type Values = { rounds: number; method: string; parts: string[] };

const fields: FormField<keyof Values>[] = [
  {
    kind: 'number',
    name: 'rounds',
    label: 'Rounds',
    min: 1,
    max: 9,
    step: 1,
    default: 3,
    help: 'How often.',
  },
  { kind: 'choice', name: 'method', label: 'Method', options: [{ value: 'regex', label: 'By regex' }] },
  {
    kind: 'control',
    name: 'parts',
    label: 'Parts',
    control: (parts: string[], onChange) => (
      <CheckboxGroup
        value={parts}
        onChange={onChange}
        options={['crust', 'crumb'].map((value) => ({ value, label: value }))}
      />
    ),
  },
];
const values: Values = { rounds: 3, method: 'regex', parts: ['crust'] };

function show(props: { values?: Values; problems?: Partial<Record<keyof Values, string>> } = {}) {
  const onChange = vi.fn<(values: Partial<Values>) => void>();
  render(<FormFields fields={fields} values={values} problems={{}} onChange={onChange} {...props} />);
  return onChange;
}

it('renders each field with its label, help and value', () => {
  show();
  expect(screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Rounds' }).value).toBe('3');
  expect(screen.getByText('How often.')).toBeTruthy();
  expect(screen.getByRole('combobox', { name: 'Method' }).textContent).toContain('By regex');
  expect(screen.getByRole('checkbox', { name: 'crust' }).getAttribute('aria-checked')).toBe('true');
});

it('reports changes by field name, and a cleared number as NaN', async () => {
  const onChange = show();
  await userEvent.click(screen.getByRole('checkbox', { name: 'crumb' }));
  expect(onChange).toHaveBeenLastCalledWith({ parts: ['crust', 'crumb'] });
  await userEvent.clear(screen.getByRole('spinbutton', { name: 'Rounds' }));
  expect(onChange).toHaveBeenLastCalledWith({ rounds: Number.NaN });
});

it('shows each error at its field', () => {
  show({ values: { ...values, rounds: 10 }, problems: { rounds: 'Rounds must be at most 9' } });
  expect(screen.getByRole('spinbutton', { name: 'Rounds' }).getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText('Rounds must be at most 9')).toBeTruthy();
});
