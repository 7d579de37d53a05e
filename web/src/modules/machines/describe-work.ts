import type { Work } from '@bakehouse/contract/machines';
import { countOf } from '../../lib/format/count-of.ts';

/** Returns the description of a task. */
export function describeWork({ kind, model_name, deployments }: Work): string {
  switch (kind) {
    case 'run':
      return 'Training run';
    case 'text_deployment':
      return deployments > 1 ? countOf(deployments, 'text deployment') : 'Text deployment';
    case 'image_deployment':
      return deployments > 1 ? countOf(deployments, 'picture deployment') : 'Picture deployment';
    case 'text_model':
      return withDeployments(`Text model ${model_name ?? ''}`, deployments);
    case 'image_model':
      return withDeployments(`Picture model ${model_name ?? ''}`, deployments);
  }
}

function withDeployments(model: string, deployments: number): string {
  return deployments > 0 ? `${model.trim()} and ${countOf(deployments, 'deployment')}` : model.trim();
}

/** Returns whom the task serves, besides its owner. */
export function describeSharing({ kind, deployments }: Work): string {
  if (kind === 'text_model' || kind === 'image_model') return 'Everyone';
  return deployments > 1 ? 'Several users' : 'Not shared';
}

/** Returns the slots that it occupies. */
export function describeSlots({ gpus }: Work): string {
  return gpus ? `${gpus.count} × ${gpus.label}` : '1 CPU slot';
}

/** Returns the number of tasks: '2 on machines, 1 in the queue'. */
export function describeAmount({ on_machines, waiting }: { on_machines: number; waiting: number }): string {
  return `${on_machines} on machines, ${waiting} in the queue`;
}
