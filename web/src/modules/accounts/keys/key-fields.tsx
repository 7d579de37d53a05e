import type { Currency } from '@bakehouse/contract/money';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { LastDayField } from '../../../ui/last-day-field.tsx';
import { Select } from '../../../ui/select.tsx';
import { type KeyForm, type KeyProblems, scopeChoices } from './key-form.ts';

type Props = {
  form: KeyForm;
  problems: KeyProblems;
  currency: Currency;
  onChange: (form: KeyForm) => void;
};

const periods = [
  { value: 'day', label: 'per day' },
  { value: 'month', label: 'per month' },
  { value: 'total', label: 'in total' },
] as const;

/** Name, scopes, expiry and budget of an API key. */
export function KeyFields({ form, problems, currency, onChange }: Props) {
  const set = (change: Partial<KeyForm>) => onChange({ ...form, ...change });
  return (
    <>
      <Field label="Name" error={problems.name} help="What uses the key, such as a program or a machine.">
        <Input
          name="name"
          value={form.name}
          autoComplete="off"
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Field label="Permissions" help={scopeChoices.find(({ value }) => value === form.scopes)?.description}>
        <Select value={form.scopes} onChange={(scopes) => set({ scopes })} options={scopeChoices} />
      </Field>
      <LastDayField
        value={form.lastDay}
        onChange={(lastDay) => set({ lastDay })}
        error={problems.lastDay}
        help="The key works until the end of this day. Leave empty for no expiry."
      />
      <div className="grid grid-cols-[minmax(0,1fr)_8.5rem] items-start gap-3">
        <Field
          label="Budget"
          aside={`${currency}, optional`}
          error={problems.budget}
          help="The most that this key can spend."
        >
          <Input
            name="budget"
            value={form.budget}
            inputMode="decimal"
            autoComplete="off"
            placeholder="No limit"
            className="tabular-nums"
            onChange={(event) => set({ budget: event.target.value })}
          />
        </Field>
        <Field label="Period">
          <Select value={form.period} onChange={(period) => set({ period })} options={periods} />
        </Field>
      </div>
    </>
  );
}
