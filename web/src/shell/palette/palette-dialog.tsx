import type { Deployment } from '@bakehouse/contract/deployments';
import { ChooseModelDialog } from '../../modules/deployments/choose-model-dialog.tsx';
import { TerminateDialog } from '../../modules/deployments/terminate-dialog.tsx';

/** What a command asks before it is done. */
export type Question = { kind: 'deploy'; modelId: string } | { kind: 'terminate'; pod: Deployment };

/** Stands in the palette's place once a command that costs or ends something was chosen. */
export function PaletteDialog({ question, onClose }: { question: Question; onClose: () => void }) {
  return question.kind === 'deploy' ? (
    <ChooseModelDialog chosen={question.modelId} onClose={onClose} />
  ) : (
    <TerminateDialog kind="text" pod={question.pod} open onClose={onClose} />
  );
}
