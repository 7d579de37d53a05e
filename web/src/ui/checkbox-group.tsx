import { CheckboxGroup as Base } from '@base-ui/react/checkbox-group';
import { Field } from '@base-ui/react/field';
import type { ReactNode } from 'react';
import { checkboxLabelClass } from './checkbox.tsx';
import { CheckboxBox } from './checkbox-box.tsx';

type Props<Value extends string> = {
  value: readonly Value[];
  /** Receives the selected values in option order. */
  onChange: (value: Value[]) => void;
  options: readonly { value: Value; label: ReactNode }[];
  className?: string;
};

/** Multiple choice from a few options. Inside a `Field`, the field's label names the group. */
export function CheckboxGroup<Value extends string>({ value, onChange, options, className }: Props<Value>) {
  return (
    <Base
      value={[...value]}
      onValueChange={(chosen) =>
        onChange(options.flatMap((one) => (chosen.includes(one.value) ? [one.value] : [])))
      }
      className={className}
    >
      {options.map((option) => (
        <Field.Item key={option.value}>
          <Field.Label className={checkboxLabelClass}>
            <CheckboxBox value={option.value} />
            <span>{option.label}</span>
          </Field.Label>
        </Field.Item>
      ))}
    </Base>
  );
}
