import { type CreditCode, createCodes, listCodes, revokeCode } from '@bakehouse/contract/codes';
import { CODES_PER_CALL_MAX, NOTE_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Ticket } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { bglProblem, currencyChoice } from '../../../lib/format/currency.ts';
import { endOfDay, formatDateTime } from '../../../lib/format/format-time.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { LastDayField, lastDayProblem } from '../../../ui/last-day-field.tsx';
import { Money } from '../../../ui/money.tsx';
import { PagedTable } from '../../../ui/paged-list.tsx';
import { lengthProblem } from '../../../ui/text-problems.ts';
import { oneTimeSecretQuestion, useClosingQuestion } from '../../../ui/use-closing-question.tsx';
import { type Problems, useForm } from '../../../ui/use-form.ts';

const codesQuery = endpointPages(['codes'], listCodes, {}, { rows: 'codes', id: 'id' });
const refresh = () => refetchQueries(codesQuery.queryKey);

const columns: Column<CreditCode>[] = [
  {
    id: 'code',
    header: 'Code',
    cell: ({ hint, note }) => (
      <>
        <span className="font-mono text-[0.8125rem]">…{hint}</span>
        {note && <span className="line-clamp-1 break-all text-muted text-xs">{note}</span>}
      </>
    ),
  },
  {
    id: 'made',
    header: 'Created',
    hideBelow: 'md',
    cell: ({ created_at }) => <span className="text-muted">{formatDateTime(new Date(created_at))}</span>,
  },
  {
    id: 'state',
    header: 'Status',
    hideBelow: 'sm',
    cell: State,
  },
  { id: 'redeemed', header: 'Redeemed', cell: Redeemed },
  {
    id: 'amount',
    header: 'Amount',
    numeric: true,
    cell: ({ amount }) => <Money bgl={amount} className="font-medium" />,
  },
];

const empty = { amount: '', count: '1', redemptions: '1', lastDay: '', note: '' };

/** All codes with their state and redemptions; open ones can be revoked. */
export function CodeTable() {
  const list = useInfiniteQuery(codesQuery);
  const revoke = useRevokeCode();
  const [asked, setAsked] = useState<CreditCode | null>(null);
  const actions: Column<CreditCode> = {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    numeric: true,
    cell: (code) =>
      stateOf(code).isOpen && (
        <Button
          size="sm"
          aria-label={`Revoke the code ending in ${code.hint}`}
          onClick={() => setAsked(code)}
        >
          Revoke
        </Button>
      ),
  };
  return (
    <>
      <PagedTable
        label="Codes"
        title="All codes"
        query={list}
        rows={(page) => page.codes}
        rowKey={({ id }) => id}
        columns={[...columns, actions]}
        skeletonRows={6}
        failed="The codes could not be loaded"
        empty={
          <EmptyState
            icon={<Ticket aria-hidden />}
            title="No codes yet"
            description="Codes you create appear here with their redemptions."
          />
        }
      />
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Revoke the code ending in ${asked?.hint}?`}
        description="It can no longer be redeemed. Credits already redeemed are not affected."
        action="Revoke"
        pending={revoke.isPending}
        onConfirm={() => asked && revoke.mutate(asked.id, { onSettled: () => setAsked(null) })}
      />
    </>
  );
}

function stateOf({ revoked_at, expires_at, redemptions, redemptions_max }: CreditCode) {
  if (revoked_at) return { label: 'Revoked', isOpen: false };
  if (redemptions === redemptions_max) return { label: 'Used up', isOpen: false };
  if (expires_at && new Date(expires_at) <= new Date()) return { label: 'Expired', isOpen: false };
  return { label: 'Open', isOpen: true };
}

function State(code: CreditCode) {
  const { label, isOpen } = stateOf(code);
  return (
    <>
      <Badge tone={isOpen ? 'good' : 'neutral'}>{label}</Badge>
      {isOpen && code.expires_at && (
        <span className="mt-0.5 block text-muted text-xs">
          until {formatDateTime(new Date(code.expires_at))}
        </span>
      )}
    </>
  );
}

function Redeemed({ redemptions, redemptions_max, redeemed_by }: CreditCode) {
  const names = redeemed_by.map(({ username }) => username).join(', ');
  return (
    <>
      <span className="tabular-nums">
        {redemptions} of {redemptions_max}
      </span>
      {names && (
        <span className="line-clamp-1 break-all text-muted text-xs" title={names}>
          {names}
        </span>
      )}
    </>
  );
}

/** The form's values; the server validates them. */
type NewCodes = {
  amount: string;
  count: number;
  redemptions_max: number;
  note: string;
  expires_at: string | null;
};

/** Creates codes, which only this response contains. */
function useCreateCodes() {
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: NewCodes & { idempotencyKey: string }) =>
      call(createCodes, { body }, { idempotencyKey }),
    onSuccess: refresh,
  });
}

/** Revokes a code. */
function useRevokeCode() {
  return useMutation({
    mutationFn: (codeId: string) => call(revokeCode, { params: { codeId } }),
    onSuccess: refresh,
  });
}

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
      <pre className="max-h-72 overflow-y-auto rounded-lg bg-subtle px-4 py-3 font-mono text-[0.8125rem] leading-6">
        {text}
      </pre>
    </Dialog>
  );
}
