import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Field } from '../../../ui/field.tsx';
import { TargetModules } from './parameter-fields.tsx';

function Modules({ begun, onChange }: { begun: string[]; onChange: (modules: string[]) => void }) {
  const [modules, setModules] = useState(begun);
  return (
    <Field label="Target modules">
      <TargetModules
        value={modules}
        onChange={(next) => {
          setModules(next);
          onChange(next);
        }}
      />
    </Field>
  );
}

test('chooses usual modules, all linear modules, or typed names', async () => {
  let modules: string[] = [];
  render(<Modules begun={['q_proj']} onChange={(next) => (modules = next)} />);
  const other = screen.getByRole('textbox', { name: 'Other modules' });
  await userEvent.type(other, 'qkv_proj, gate_up_proj');
  expect(modules).toEqual(['q_proj', 'qkv_proj', 'gate_up_proj']);
  expect(other).toHaveProperty('value', 'qkv_proj, gate_up_proj');

  await userEvent.click(screen.getByRole('checkbox', { name: 'all-linear' }));
  expect(modules).toEqual(['all-linear']);
  expect(other).toHaveProperty('value', '');

  await userEvent.click(screen.getByRole('checkbox', { name: 'v_proj' }));
  expect(modules).toEqual(['v_proj']);
  await userEvent.click(screen.getByRole('checkbox', { name: 'all-linear' }));
  await userEvent.type(other, 'qkv_proj');
  expect(modules).toEqual(['qkv_proj']);

  await userEvent.type(other, ', v_proj');
  await userEvent.tab();
  expect(modules).toEqual(['v_proj', 'qkv_proj']);
  expect(other).toHaveProperty('value', 'qkv_proj');
});
