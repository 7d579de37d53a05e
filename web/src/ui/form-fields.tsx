import type { NumberField as Bounds } from '@bakehouse/contract/fields/number-field';
import type { ReactNode } from 'react';
import { Checkbox } from './checkbox.tsx';
import { Field } from './field.tsx';
import { NumberField } from './number-field.tsx';
import { Select } from './select.tsx';
import { Textarea } from './textarea.tsx';

type Common<Name extends string> = {
  name: Name;
  label: string;
  /** Help text below the field. */
  help?: ReactNode;
  /** Help that depends on the value or can change it. */
  helpFor?: (value: never, onChange: (value: unknown) => void) => ReactNode;
};

/** One field in a declarative form definition. */
export type FormField<Name extends string> = Common<Name> &
  (
    | ({ kind: 'number'; maxDecimals?: number; disabled?: boolean } & Bounds)
    | { kind: 'choice'; options: readonly { value: string; label: string }[] }
    | { kind: 'text' }
    /** `box` is the label next to the checkbox. */
    | { kind: 'flag'; box: string }
    /** A custom control that manages its own value. A wide one takes a full row. */
    | {
        kind: 'control';
        isWide?: boolean;
        control: (value: never, onChange: (value: unknown) => void) => ReactNode;
      }
  );

type Props<Name extends string, Values extends Record<Name, unknown>> = {
  fields: readonly FormField<Name>[];
  values: Values;
  problems: Partial<Record<Name, string>>;
  onChange: (values: Partial<Values>) => void;
};

/** Renders a list of fields, in two columns if there is room. An empty number is NaN. */
export function FormFields<Name extends string, Values extends Record<Name, unknown>>({
  fields,
  values,
  problems,
  onChange,
}: Props<Name, Values>) {
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      {fields.map((field) => {
        const value = values[field.name];
        const change = (next: unknown) => onChange({ [field.name]: next } as Partial<Values>);
        return (
          <Field
            key={field.name}
            label={field.label}
            error={problems[field.name]}
            help={field.helpFor ? field.helpFor(value as never, change) : field.help}
            className={isWide(field) ? 'sm:col-span-2' : undefined}
          >
            <Control field={field} value={value} onChange={change} />
          </Field>
        );
      })}
    </div>
  );
}

function isWide(field: FormField<string>): boolean {
  return field.kind === 'text' || (field.kind === 'control' && field.isWide === true);
}

type ControlProps = { field: FormField<string>; value: unknown; onChange: (value: unknown) => void };

function Control({ field, value, onChange }: ControlProps) {
  switch (field.kind) {
    case 'number':
      return (
        <NumberField
          value={Number.isNaN(value) ? null : (value as number)}
          onChange={(next) => onChange(next ?? Number.NaN)}
          min={field.min}
          max={field.max}
          step={field.step}
          maxDecimals={field.maxDecimals}
          disabled={field.disabled}
        />
      );
    case 'choice':
      return <Select value={value as string} onChange={onChange} options={field.options} />;
    case 'text':
      return <Textarea value={value as string} onChange={(event) => onChange(event.target.value)} rows={2} />;
    case 'flag':
      return <Checkbox checked={value as boolean} onChange={onChange} label={field.box} />;
    case 'control':
      return field.control(value as never, onChange);
  }
}
