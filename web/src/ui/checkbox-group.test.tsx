import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { CheckboxGroup } from './checkbox-group.tsx';
import { Field } from './field.tsx';

const options = ['q_proj', 'k_proj', 'v_proj'].map((value) => ({ value, label: value }));

it("names each box by its own label and the group by the field's label", async () => {
  const onChange = vi.fn<(value: string[]) => void>();
  render(
    <Field label="Target modules">
      <CheckboxGroup value={['v_proj']} onChange={onChange} options={options} />
    </Field>,
  );
  expect(screen.getByRole('group', { name: 'Target modules' })).toBeTruthy();
  expect(screen.getAllByRole('checkbox').map((box) => box.getAttribute('aria-checked'))).toEqual([
    'false',
    'false',
    'true',
  ]);
  await userEvent.click(screen.getByRole('checkbox', { name: 'q_proj' }));
  expect(onChange).toHaveBeenCalledWith(['q_proj', 'v_proj']);
});
