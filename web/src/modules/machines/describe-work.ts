import type { Work } from '@bakehouse/contract/machines';
import { countOf } from '../../lib/format/count-of.ts';

/** What a piece of work is, in words. */
export function describeWork({ kind, model_name, deployments }: Work): string {
  switch (kind) {
    case 'run':
      return 'Training run';
    case 'text_deployment':
      return deployments > 1 ? countOf(deployments, 'text deployment') : 'Text deployment';
    case 'image_deployment':
      return deployments > 1 ? countOf(deployments, 'image deployment') : 'Image deployment';
    case 'text_model':
      return withDeployments(`Text model ${model_name ?? ''}`, deployments);
    case 'image_model':
      return withDeployments(`Image model ${model_name ?? ''}`, deployments);
  }
}

function withDeployments(model: string, deployments: number): string {
  return deployments > 0 ? `${model.trim()} and ${countOf(deployments, 'deployment')}` : model.trim();
}

/** Whose it is, where it is nobody's alone. */
export function describeSharing({ kind, deployments }: Work): string {
  if (kind === 'text_model' || kind === 'image_model') return 'Everyone';
  return deployments > 1 ? 'Several users' : 'Nobody';
}

/** The slots that it takes. */
export function describeSlots({ gpus }: Work): string {
  return gpus ? `${gpus.count} × ${gpus.label}` : '1 CPU slot';
}

/** How much there is: '2 on machines, 1 in the queue'. */
export function describeAmount({ on_machines, waiting }: { on_machines: number; waiting: number }): string {
  return `${on_machines} on machines, ${waiting} in the queue`;
}
