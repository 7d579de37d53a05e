import { showAmount } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Sheet } from '../../../ui/sheet.tsx';
import { SendFields } from './send-fields.tsx';
import { TransferFailed, TransferSuccessful } from './send-result.tsx';
import { useSendCredits } from './use-send-credits.ts';

type Props = {
  open: boolean;
  onClose: () => void;
  /** Whom it is opened for. */
  recipient?: string;
};

const FORM_ID = 'send-credits';

/** Send Credits: the form, then Transfer Successful or Transfer Failed. */
export function SendCreditsSheet({ open, onClose, recipient = '' }: Props) {
  const { form, amount, problems, transfer, ...sending } = useSendCredits(recipient);
  const isForm = transfer.isIdle || transfer.isPending;
  const close = () => {
    sending.reset();
    onClose();
  };
  return (
    <Sheet
      open={open}
      onClose={close}
      title="Send Credits"
      description={isForm ? 'To another user of this server. A transfer cannot be undone.' : undefined}
      dirty={isForm && sending.isChanged}
      footer={<Buttons transfer={transfer} onClose={close} />}
    >
      {isForm && (
        <SendFields
          id={FORM_ID}
          form={form}
          amount={amount}
          problems={problems}
          onChange={sending.change}
          onSubmit={sending.submit}
        />
      )}
      {transfer.isSuccess && <TransferSuccessful sent={transfer.variables} />}
      {transfer.isError && <TransferFailed error={transfer.error} />}
      {amount !== null && (
        <ConfirmDialog
          open={sending.asking}
          onOpenChange={sending.setAsking}
          title={`Send ${showAmount(amount, 'USD')} (${showAmount(amount, 'BGL')}) to ${form.recipient.trim()}?`}
          description="The recipient can spend them at once. A transfer cannot be undone."
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
  onClose: () => void;
};

function Buttons({ transfer, onClose }: ButtonsProps) {
  if (transfer.isSuccess)
    return (
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    );
  return (
    <>
      <Button onClick={onClose}>Cancel</Button>
      {transfer.isError ? (
        <Button variant="primary" onClick={transfer.reset}>
          Try Again
        </Button>
      ) : (
        <Button variant="primary" type="submit" form={FORM_ID} loading={transfer.isPending}>
          Send
        </Button>
      )}
    </>
  );
}
