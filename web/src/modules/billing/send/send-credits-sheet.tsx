import { useEffect } from 'react';
import { type IdempotencyKeys, useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { showUnrounded } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Sheet } from '../../../ui/sheet.tsx';
import { type SheetDraft, useSheetDraft } from '../../../ui/use-sheet-draft.ts';
import { NothingToSend, SendFields } from './send-fields.tsx';
import { TransferFailed, TransferSuccessful } from './send-result.tsx';
import { useSendCredits } from './use-send-credits.ts';

type Props = {
  open: boolean;
  onClose: () => void;
  /** The prefilled recipient. */
  recipient?: string;
};

const FORM_ID = 'send-credits';

/**
 * Send Credits: the form, then Transfer Successful or Transfer Failed. After a success, the next one starts
 * empty.
 */
export function SendCreditsSheet({ open, onClose, recipient = '' }: Props) {
  const { key, ...round } = useSheetDraft(
    open,
    recipient,
    (wanted, draft) => wanted === '' || wanted === draft,
  );
  // Outlive the form, so that the same transfer typed again after a lost response is not sent twice.
  const keys = useIdempotencyKeys('transfer');
  return <SendCredits key={key} open={open} onClose={onClose} keys={keys} {...round} />;
}

type SendProps = Omit<SheetDraft<string>, 'key'> & Omit<Props, 'recipient'> & { keys: IdempotencyKeys };

function SendCredits({ open, onClose, keys, begunWith, onDraft }: SendProps) {
  const {
    values: form,
    amount,
    problems,
    transfer,
    asked,
    ...sending
  } = useSendCredits(begunWith, keys, open);
  const isForm = transfer.isIdle || transfer.isPending;
  const isUnfinished = sending.isDirty && !transfer.isSuccess;
  useEffect(() => {
    if (open) onDraft(isUnfinished ? form.recipient.trim() : null);
  }, [open, isUnfinished, form.recipient, onDraft]);
  const close = () => {
    if (!transfer.isPending) onDraft(null);
    onClose();
  };
  return (
    <Sheet
      open={open}
      onClose={close}
      title="Send Credits"
      description={isForm ? 'To another user of this server.' : undefined}
      dirty={isUnfinished && !transfer.isPending}
      footer={
        <Buttons
          transfer={transfer}
          isLookingUp={sending.isLookingUp}
          nothing={sending.nothing !== null}
          onClose={close}
        />
      }
    >
      {isForm && sending.nothing && <NothingToSend {...sending.nothing} />}
      {isForm && !sending.nothing && (
        <SendFields
          id={FORM_ID}
          form={form}
          currency={sending.currency}
          amount={amount}
          problems={problems}
          onChange={sending.change}
          onSubmit={sending.onSubmit}
        />
      )}
      {transfer.isSuccess && <TransferSuccessful sent={transfer.variables} />}
      {transfer.isError && <TransferFailed error={transfer.error} />}
      {asked && (
        <ConfirmDialog
          open={sending.asking}
          onOpenChange={sending.setAsking}
          title={`Send ${showUnrounded(asked.body.amount, sending.currency)} to ${asked.name}?`}
          description="A transfer cannot be undone."
          action="Send"
          tone="primary"
          pending={transfer.isPending}
          onConfirm={sending.send}
        />
      )}
    </Sheet>
  );
}

type ButtonsProps = {
  transfer: { isSuccess: boolean; isError: boolean; isPending: boolean; reset: () => void };
  /** The recipient is being looked up. */
  isLookingUp: boolean;
  /** Nothing can be sent, so there is no form. */
  nothing: boolean;
  onClose: () => void;
};

function Buttons({ transfer, isLookingUp, nothing, onClose }: ButtonsProps) {
  if (transfer.isSuccess)
    return (
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    );
  return (
    <>
      <Button onClick={onClose}>{nothing ? 'Close' : 'Cancel'}</Button>
      {nothing && !transfer.isError ? null : transfer.isError ? (
        <Button variant="primary" onClick={transfer.reset}>
          Try Again
        </Button>
      ) : (
        <Button variant="primary" type="submit" form={FORM_ID} loading={transfer.isPending || isLookingUp}>
          Send
        </Button>
      )}
    </>
  );
}
