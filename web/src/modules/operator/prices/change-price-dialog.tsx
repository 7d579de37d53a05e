import { useState } from 'react';
import { showBoth, showUnrounded } from '../../../lib/format/currency.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { Segmented } from '../../../ui/segmented.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { type Price, priceUnits } from '../../billing/price-columns.tsx';
import { useChangePrice } from './price-calls.ts';
import { type PriceForm, priceProblems } from './price-form.ts';

const FORM = 'change-price';

/** Changes one price, now or at a later time. */
export function ChangePriceDialog({ price, onClose }: { price: Price; onClose: () => void }) {
  const change = useChangePrice();
  const [isAsking, setAsking] = useState(false);
  const {
    values: form,
    problems,
    change: edit,
    onSubmit,
  } = useForm<PriceForm>({
    initial: () => ({ amount: '', when: 'now', at: '' }),
    problemsOnSubmit: (values) => priceProblems(values, price, new Date()),
    onSubmit: () => setAsking(true),
  });

  function save() {
    const from = form.when === 'later' ? new Date(form.at) : null;
    change.mutate(
      { price_id: price.id, unit_price: form.amount, valid_from: from?.toISOString() ?? null },
      {
        onSuccess: () => {
          notify.success(from ? `The price will change on ${formatDateTime(from)}` : 'The price was changed');
          onClose();
        },
        onSettled: () => setAsking(false),
      },
    );
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !change.isPending && onClose()}
      dirty={form.amount !== '' || form.at !== ''}
      size="sm"
      title={`Change the price of ‘${price.label}’`}
      description={`It is now ${showBoth(price.unit_price)} ${priceUnits[price.unit]}. Runs already started and hours already paid for keep it.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM} variant="primary">
            Change the price
          </Button>
        </>
      }
    >
      <form id={FORM} noValidate onSubmit={onSubmit} className="grid gap-4">
        <Fields price={price} form={form} onChange={edit} problems={problems} />
      </form>
      {isAsking && (
        <ConfirmDialog
          open
          onOpenChange={setAsking}
          title={`Change the price of ‘${price.label}’?`}
          description={<Change price={price} form={form} />}
          action="Change the price"
          tone="primary"
          pending={change.isPending}
          onConfirm={save}
        />
      )}
    </Dialog>
  );
}

type ChangeProps = { price: Price; form: PriceForm };

/** Confirms the old and the new price, to catch a mistyped digit. */
function Change({ price, form }: ChangeProps) {
  return (
    <>
      From {showBoth(price.unit_price)} to <strong className="text-ink">{showBoth(form.amount)}</strong>{' '}
      {priceUnits[price.unit]},{' '}
      {form.when === 'later' ? `from ${formatDateTime(new Date(form.at))} on` : 'effective immediately'}.
    </>
  );
}

type FieldsProps = {
  price: Price;
  form: PriceForm;
  onChange: (changed: Partial<PriceForm>) => void;
  problems: ReturnType<typeof priceProblems>;
};

/** The price and its start. */
function Fields({ price, form, onChange, problems }: FieldsProps) {
  return (
    <>
      <AmountField
        label="New price"
        per={priceUnits[price.unit]}
        value={form.amount}
        onChange={(amount) => onChange({ amount })}
        error={problems.amount}
      />
      <Segmented
        label="Takes effect"
        value={form.when}
        onChange={(when) => onChange({ when })}
        options={[
          { value: 'now', label: 'Now' },
          { value: 'later', label: 'Later' },
        ]}
      />
      {form.when === 'later' && (
        <Field
          label="Date and time"
          error={problems.at}
          help="In your time zone. The price list announces it in advance."
        >
          <Input
            type="datetime-local"
            value={form.at}
            onChange={(event) => onChange({ at: event.target.value })}
          />
        </Field>
      )}
      {price.next && (
        <p className="text-compact text-muted leading-5">
          This replaces the change to {showUnrounded(price.next.unit_price)} on{' '}
          {formatDateTime(new Date(price.next.valid_from))}.
        </p>
      )}
    </>
  );
}
