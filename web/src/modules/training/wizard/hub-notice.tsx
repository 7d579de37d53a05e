import { Callout } from '../../../ui/callout.tsx';

/** Why a fine-tune from the hub cannot be started, and what its form is good for until then. */
export function HubNotice() {
  return (
    <Callout className="mb-5">
      Models from the hub cannot be fine-tuned here yet. Until then you can fill in this form and save it as a
      configuration.
    </Callout>
  );
}
