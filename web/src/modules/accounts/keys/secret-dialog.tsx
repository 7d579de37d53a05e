import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

type Props = {
  /** Null if closed. */
  secret: string | null;
  onClose: () => void;
};

/** Shows a new API key, once. */
export function SecretDialog({ secret, onClose }: Props) {
  return (
    <Dialog
      open={secret !== null}
      keepOpen
      onOpenChange={(open) => !open && onClose()}
      title="Copy the new key now"
      description="It is shown only once. Anyone who has it can use it."
      footer={
        <>
          <CopyButton text={secret ?? ''} label="Copy" withText />
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <output
        aria-label="New API key"
        className="block break-all rounded-lg bg-subtle px-4 py-3 font-mono text-compact leading-6"
      >
        {secret}
      </output>
    </Dialog>
  );
}
