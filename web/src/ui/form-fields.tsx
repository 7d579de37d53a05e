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
  /** Under the field. */
  help?: ReactNode;
  /** The same where it says something of the value, or sets it. */
  helpFor?: (value: never, onChange: (value: unknown) => void) => ReactNode;
};

/** One row of the table that a form is drawn from. */
export type FormField<Name extends string> = Common<Name> &
  (
    | ({ kind: 'number'; maxDecimals?: number; disabled?: boolean } & Bounds)
    | { kind: 'choice'; options: readonly { value: string; label: string }[] }
    | { kind: 'text' }
    /** `box` stands beside the box. */
    | { kind: 'flag'; box: string }
    /** One of its own, which says itself what it changes; a wide one has a line of its own. */
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

/** The fields of a table, two beside each other where there is room. A number that is not there is NaN. */
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
