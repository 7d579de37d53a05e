import { displayAmount, placesFor } from '@bakehouse/contract/money';
import type { NotificationKind } from '@bakehouse/contract/notifications';
import type { Run } from '@bakehouse/contract/runs';

type StopReason = NonNullable<Run['stop_reason']>;

/** Data of each kind of notification. The message is built from it when it is read. */
export type NotificationData = {
  /** `is_export` is true if the run is an export. */
  run_completed: { run_id: string; title: string; is_export?: boolean };
  run_failed: { run_id: string; title: string; is_export?: boolean };
  /**
   * `stop_reason` is null if the owner stopped the run. Notifications from earlier versions have no
   * `stop_reason`.
   */
  run_cancelled: { run_id: string; title: string; stop_reason?: StopReason | null; is_export?: boolean };
  deployment_ready: { pod_id: string; title: string };
  deployment_failed: { pod_id: string; title: string };
  deployment_stopped: { pod_id: string; title: string; stop_reason: StopReason };
  generation_completed: { generation_id: string; generator: string };
  generation_failed: { generation_id: string; generator: string };
  clone_completed: { asset_id: string; dataset_type: string; title: string };
  /** `link` opens the page on which the user can retry. */
  clone_failed: { link: string; title: string };
  credits_received: { amount_micro: string; sender: string };
  credits_bought: { amount_micro: string };
  credits_granted: { amount_micro: string };
  /** The inviter's bonus. It does not name the friend, whose data must be deletable. */
  referral_counted: { amount_micro: string };
  balance_low: { amount_micro: string };
  access_granted: { model_id: string; name: string };
  /** `was_granted` is true if an operator has revoked the access, false if the request was declined. */
  access_refused: { model_id: string; name: string; was_granted: boolean };
  asset_shared: { asset_id: string; dataset_type: string; title: string; by: string };
  api_key_expiring: { key_id: string; name: string; expires_at: string };
  message_received: { username: string; subject: string };
  payment_refused: { reason: string };
};

const momentFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Why the server stopped a run or deployment. */
const stops: Record<StopReason, string> = {
  ceiling: 'stopped at its spending limit. You can resume it with a higher one',
  time: 'stopped because it took four times as long as estimated. It costs the estimate, and you can resume it',
  credits: 'stopped because your credits ran out',
  budget: 'stopped because the budget of its API key is used up',
};

type Text = { message: string; link: string };

/** Message and link of each kind. */
export const kinds: { [Kind in NotificationKind]: (data: NotificationData[Kind]) => Text } = {
  run_completed: ({ run_id, title, is_export }) => ({
    message: `${title} ${is_export ? 'is ready' : 'has finished training'}`,
    link: `/runs/${run_id}`,
  }),
  run_failed: ({ run_id, title, is_export }) => ({
    message: `The ${is_export ? 'export' : 'training'} of ${title} failed`,
    link: `/runs/${run_id}`,
  }),
  run_cancelled: ({ run_id, title, stop_reason: reason, is_export }) => ({
    message: `The ${is_export ? 'export' : 'training'} of ${title} ${reason ? stops[reason] : 'was cancelled'}`,
    link: `/runs/${run_id}`,
  }),
  deployment_ready: ({ pod_id, title }) => ({
    message: `${title} is ready`,
    link: `/my-deployments/${pod_id}`,
  }),
  deployment_failed: ({ pod_id, title }) => ({
    message: `The deployment of ${title} failed`,
    link: `/my-deployments/${pod_id}`,
  }),
  deployment_stopped: ({ pod_id, title, stop_reason }) => ({
    message: `The deployment of ${title} ${stops[stop_reason]}`,
    link: `/my-deployments/${pod_id}`,
  }),
  generation_completed: ({ generation_id, generator }) => ({
    message: `Your ${generator} generation is ready`,
    link: `/gallery/${generation_id}`,
  }),
  generation_failed: ({ generation_id, generator }) => ({
    message: `Your ${generator} generation failed`,
    link: `/gallery/${generation_id}`,
  }),
  clone_completed: ({ asset_id, dataset_type, title }) => ({
    message: `${title} has been cloned`,
    link: assetPath({ asset_id, dataset_type }),
  }),
  clone_failed: ({ link, title }) => ({ message: `${title} could not be cloned`, link }),
  credits_received: ({ amount_micro, sender }) => ({
    message: `You received ${bgl(amount_micro)} from ${sender}`,
    link: '/transactions',
  }),
  credits_bought: ({ amount_micro }) => ({
    message: `${bgl(amount_micro)} was added to your balance`,
    link: '/transactions',
  }),
  credits_granted: ({ amount_micro }) => ({
    message: `An operator granted you ${bgl(amount_micro)}`,
    link: '/transactions',
  }),
  referral_counted: ({ amount_micro }) => ({
    message: `A friend accepted your invitation: ${bgl(amount_micro)} was added to your balance`,
    link: '/invite',
  }),
  balance_low: ({ amount_micro }) => ({
    message: `Your balance is down to ${bgl(amount_micro)}`,
    link: '/buy-bagels',
  }),
  access_granted: ({ model_id, name }) => ({
    message: `You now have access to ${name}`,
    link: `/model/source/${encodeURIComponent(model_id)}/description`,
  }),
  access_refused: ({ model_id, name, was_granted }) => ({
    message: was_granted
      ? `An operator revoked your access to ${name}`
      : `An operator refused your request for access to ${name}`,
    link: `/model/source/${encodeURIComponent(model_id)}/description`,
  }),
  asset_shared: ({ asset_id, dataset_type, title, by }) => ({
    message: `${by} shared the ${dataset_type === 'MODEL' ? 'model' : 'dataset'} ${title} with you`,
    link: assetPath({ asset_id, dataset_type }),
  }),
  api_key_expiring: ({ name, expires_at }) => ({
    message: `Your API key ${name} expires on ${momentFormat.format(new Date(expires_at))} UTC`,
    link: '/api-key',
  }),
  message_received: ({ username, subject }) => ({
    message: `${username} wrote to you: ${subject}`,
    link: '/operator/messages',
  }),
  payment_refused: ({ reason }) => ({
    message: `A payment was not credited: ${reason}`,
    link: '/operator/ledger',
  }),
};

function assetPath({ asset_id: id, dataset_type: type }: { asset_id: string; dataset_type: string }): string {
  return `/${type === 'MODEL' ? 'model' : 'dataset'}/${id}/description`;
}

function bgl(amountMicro: string): string {
  const micro = BigInt(amountMicro);
  return displayAmount(micro, 'BGL', placesFor(micro, 'BGL'));
}

/** The recipient, kind and data of a notification. */
export type NewNotification = {
  [Kind in NotificationKind]: { userId: string; kind: Kind; data: NotificationData[Kind] };
}[NotificationKind];
