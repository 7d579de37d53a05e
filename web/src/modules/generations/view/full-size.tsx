import type { Generation } from '@bakehouse/contract/generations';
import { ArrowLeft, ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { useStepKeys } from '../../../lib/device/use-step-keys.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Media } from './media.tsx';

type Props = {
  outputs: Generation['outputs'];
  prompt: string;
  /** Which of them, from 0; null: none. */
  at: number | null;
  onAt: (at: number | null) => void;
};

/** One picture at its own size. The arrow keys go to those beside it. */
export function FullSize({ outputs, prompt, at, onAt }: Props) {
  // It stays in sight while the dialog fades away.
  const [shown, setShown] = useState(at ?? 0);
  if (at !== null && at !== shown) setShown(at);
  const goBy = (step: number) => outputs[shown + step] && onAt(shown + step);
  useStepKeys(['ArrowLeft', 'ArrowRight'], goBy, { enabled: at !== null && outputs.length > 1, onTop: true });
  const output = outputs[shown];
  if (!output) return null;
  const { width, height } = output;
  return (
    <Dialog
      open={at !== null}
      onOpenChange={(open) => !open && onAt(null)}
      size="fit"
      title={outputs.length > 1 ? `Picture ${shown + 1} of ${outputs.length}` : 'Full size'}
      description={`${width} × ${height} pixels`}
      footer={
        outputs.length > 1 && (
          <>
            {/* They keep the focus where there is none beside it. */}
            <Button aria-disabled={shown === 0} onClick={() => goBy(-1)}>
              <ArrowLeft aria-hidden />
              Previous
            </Button>
            <Button aria-disabled={shown === outputs.length - 1} onClick={() => goBy(1)}>
              Next
              <ArrowRight aria-hidden />
            </Button>
          </>
        )
      }
    >
      <Media media={output} alt={prompt} className="max-w-none" />
    </Dialog>
  );
}
