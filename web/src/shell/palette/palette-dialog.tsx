import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import type { Deployment } from '@bakehouse/contract/deployments/text';
import { ChooseModelDialog } from '../../modules/deployments/choose-model-dialog.tsx';
import { DeployImageDialog } from '../../modules/deployments/images/deploy-image-dialog.tsx';
import { TerminateImageDialog } from '../../modules/deployments/images/terminate-image-dialog.tsx';
import { TerminateDialog } from '../../modules/deployments/terminate-dialog.tsx';

/** What a command asks before it is done. */
export type Question =
  | { kind: 'deploy'; modelId: string | null }
  | { kind: 'deploy-image' }
  | { kind: 'terminate'; pod: Deployment }
  | { kind: 'terminate-image'; deployment: ImageDeployment };

/** Stands in the palette's place once a command that costs or ends something was chosen. */
export function PaletteDialog({ question, onClose }: { question: Question; onClose: () => void }) {
  switch (question.kind) {
    case 'deploy':
      return <ChooseModelDialog chosen={question.modelId} onClose={onClose} />;
    case 'deploy-image':
      return <DeployImageDialog chosen={null} onClose={onClose} />;
    case 'terminate':
      return <TerminateDialog kind="text" pod={question.pod} open onClose={onClose} />;
    case 'terminate-image':
      return <TerminateImageDialog deployment={question.deployment} onClose={onClose} />;
  }
}
