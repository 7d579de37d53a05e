import type { ApiKey } from '@bakehouse/contract/api-keys';
import type { Currency } from '@bakehouse/contract/money';
import { useState } from 'react';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { LastDayField, lastDayProblem } from '../../../ui/last-day-field.tsx';
import { Select } from '../../../ui/select.tsx';
import { useForm } from '../../../ui/use-form.ts';
import {
  type KeyForm,
  type KeyProblems,
  type KeySettings,
  keyChanges,
  keyForm,
  keyProblems,
  scopeChoices,
} from './key-form.ts';

const periods = [
  { value: 'day', label: 'per day' },
  { value: 'month', label: 'per month' },
  { value: 'total', label: 'in total' },
] as const;

const FORM_ID = 'api-key';

type Props = {
  /** The key to change; null for a new one. */
  apiKey: ApiKey | null;
  pending: boolean;
  onSubmit: (changes: Partial<KeySettings>) => void;
  onClose: () => void;
};

/** Creates an API key or changes one's settings. */
export function KeyDialog({ apiKey, pending, onSubmit, onClose }: Props) {
  // The amount must not change its meaning if another tab switches the currency.
  const [currency] = useState(() => currencyChoice.get());
  const {
    values: form,
    problems,
    change,
    isDirty,
    onSubmit: submit,
  } = useForm({
    initial: () => keyForm(apiKey, currency),
    problemsOf: (values) => keyProblems(values, apiKey, currency),
    // A key's existing last day may be in the past.
    problemsOnSubmit: ({ lastDay }, fields, begun) =>
      lastDay === '' || lastDay !== begun.lastDay ? { lastDay: lastDayProblem(fields) } : {},
    onSubmit: (values) => {
      if (!pending) onSubmit(keyChanges(values, apiKey, currency));
    },
  });

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !pending && onClose()}
      // The new key is shown only once, on this page.
      keepOpen={pending && apiKey === null}
      dirty={isDirty && !pending}
      title={apiKey ? `Change ${apiKey.name}` : 'Create an API key'}
      description={
        apiKey
          ? 'The key itself stays the same. Changes apply immediately.'
          : 'Revoke it without affecting your other keys.'
      }
      footer={
        <>
          <Button onClick={onClose} disabled={pending}>
            Cancel
          </Button>
          <Button type="submit" form={FORM_ID} variant="primary" loading={pending}>
            {apiKey ? 'Save' : 'Create key'}
          </Button>
        </>
      }
    >
      <form id={FORM_ID} noValidate onSubmit={submit} className="grid gap-4">
        <KeyFields form={form} problems={problems} currency={currency} onChange={change} />
      </form>
    </Dialog>
  );
}

type KeyFieldsProps = {
  form: KeyForm;
  problems: KeyProblems;
  currency: Currency;
  onChange: (form: KeyForm) => void;
};

/** Name, scopes, expiry and budget of an API key. */
function KeyFields({ form, problems, currency, onChange }: KeyFieldsProps) {
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
          help="Spending limit for this key."
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
