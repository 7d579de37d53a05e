import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { PresetField } from './preset-field.tsx';
import { initialParameters, type TrainingParameters } from './training-parameters.ts';

const basis = { rows: 30, baseBytes: 270_000_000 };
const chosen = () => screen.queryByRole('button', { pressed: true })?.textContent ?? null;

it('starts with the specified values, and switches to the suggested ones and back', () => {
  let parameters: TrainingParameters = initialParameters;
  const field = () => (
    <PresetField
      parameters={parameters}
      basis={basis}
      onChange={(values) => {
        parameters = { ...parameters, ...values };
      }}
    />
  );
  const { rerender } = render(field());
  expect(chosen()).toBe('API defaults');
  fireEvent.click(screen.getByRole('button', { name: 'Suggested' }));
  expect(parameters).toMatchObject({ epochs: 10, learning_rate: 0.001 });
  rerender(field());
  expect(chosen()).toBe('Suggested');
  parameters = { ...parameters, epochs: 4 };
  rerender(field());
  expect(chosen()).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'API defaults' }));
  expect(parameters).toEqual(initialParameters);
});

it('suggests nothing until the file and the base model are known', () => {
  render(<PresetField parameters={initialParameters} basis={null} onChange={() => undefined} />);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Suggested' }).disabled).toBe(true);
});
