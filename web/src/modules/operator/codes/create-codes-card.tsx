import { CODES_PER_CALL_MAX, NOTE_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { endOfDay } from '../../../lib/format/format-time.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { LastDayField, lastDayProblem } from '../../../ui/last-day-field.tsx';
import { lengthProblem } from '../../../ui/text-problem.ts';
import { oneTimeSecretQuestion, useClosingQuestion } from '../../../ui/use-closing-question.tsx';
import { type Problems, useForm } from '../../../ui/use-form.ts';
import { useCreateCodes } from './code-calls.ts';

const empty = { amount: '', count: '1', redemptions: '1', lastDay: '', note: '' };

/** Creates codes and shows them once. */
export function CreateCodesCard() {
  const keys = useIdempotencyKeys('codes');
  const create = useCreateCodes();
  const { values, problems, change, onSubmit, reset } = useForm({
    initial: () => empty,
    problemsOf,
    problemsOnSubmit: (_values, form) => ({ lastDay: lastDayProblem(form) }),
    onSubmit: (form) => {
      if (create.isPending) return;
      const asked = askedOf(form);
      create.mutate({ ...asked, idempotencyKey: keys.keyFor(asked) }, { onSuccess: () => keys.renew(asked) });
    },
  });

  const field = (name: 'count' | 'redemptions' | 'note', label: string, aside?: string) => (
    <Field label={label} aside={aside} error={problems[name]}>
      <Input
        value={values[name]}
        autoComplete="off"
        inputMode={name === 'note' ? undefined : 'decimal'}
        onChange={(event) => change({ [name]: event.target.value })}
      />
    </Field>
  );
  return (
    <Card
      title="Create codes"
      description="Redeemed credits count as bought: they can be sent to others and do not expire."
    >
      <form noValidate onSubmit={onSubmit} className="grid gap-4">
        <AmountField
          label="Value of each code"
          value={values.amount}
          onChange={(amount) => change({ amount })}
          error={problems.amount}
        />
        {field('count', 'Number of codes')}
        {field('redemptions', 'Uses per code')}
        <LastDayField
          value={values.lastDay}
          onChange={(lastDay) => change({ lastDay })}
          error={problems.lastDay}
          help="The codes can be redeemed until the end of this day."
        />
        {field('note', 'Note', 'Optional')}
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create codes
        </Button>
      </form>
      {create.isPending && <LeavingQuestion />}
      <MadeCodes
        codes={create.data?.codes ?? null}
        onClose={() => {
          create.reset();
          reset();
        }}
      />
    </Card>
  );
}

function askedOf({ amount, count, redemptions, note, lastDay }: typeof empty) {
  return {
    amount: amount.trim(),
    count: Number(count),
    redemptions_max: Number(redemptions),
    note: note.trim(),
    expires_at: lastDay === '' ? null : endOfDay(lastDay).toISOString(),
  };
}

function problemsOf({ amount, count, redemptions, note }: typeof empty): Problems<typeof empty> {
  return {
    amount: bglProblem(amount, currencyChoice.get()),
    count: isWhole(count, CODES_PER_CALL_MAX)
      ? undefined
      : `Enter a whole number from 1 to ${CODES_PER_CALL_MAX}`,
    redemptions: isWhole(redemptions, 100_000) ? undefined : 'Enter a whole number from 1 to 100,000',
    note: lengthProblem('Note', note, NOTE_LENGTH_MAX),
  };
}

function isWhole(text: string, max: number): boolean {
  return /^\d{1,6}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max;
}

/** Asks before leaving, because the new codes are shown only once. */
function LeavingQuestion() {
  return useClosingQuestion(oneTimeSecretQuestion, 'page', () => undefined).question;
}

function MadeCodes({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
  const text = codes?.join('\n') ?? '';
  return (
    <Dialog
      open={codes !== null}
      keepOpen
      onOpenChange={(open) => !open && onClose()}
      title="Copy the codes now"
      description="They will not be shown again. Only their last characters are stored."
      footer={
        <>
          <CopyButton text={text} label="Copy" withText />
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <pre className="max-h-72 overflow-y-auto rounded-lg bg-subtle px-4 py-3 font-mono text-compact leading-6">
        {text}
      </pre>
    </Dialog>
  );
}
