import { useRef } from 'react';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Avatar, pictureOf } from '../avatar.tsx';
import { useUser } from '../session.ts';
import { ConfirmAddress } from './confirm-address.tsx';
import { NameForm } from './name-form.tsx';
import { useUpdateProfile } from './profile-calls.ts';

/** The account: picture, name, username and address. */
export function AccountCard() {
  const user = useUser();
  return (
    <Card title="Account">
      <div className="grid gap-6">
        <Picture />
        <NameForm name={user.name} />
        <dl className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          <Figure
            label="Username"
            note="Other users can send you credits by this name. It cannot be changed."
          >
            {user.username}
          </Figure>
          <Figure label="Email" note={!user.email_verified && <ConfirmAddress email={user.email} />}>
            <span className="flex flex-wrap items-center gap-2">
              {user.email}
              {user.email_verified && <Badge tone="good">Confirmed</Badge>}
            </span>
          </Figure>
        </dl>
      </div>
    </Card>
  );
}

function Picture() {
  const user = useUser();
  const input = useRef<HTMLInputElement>(null);
  const update = useUpdateProfile({ inPlace: true });
  const hasPicture = pictureOf(user) !== null;

  async function savePicture(file: File | undefined) {
    if (!file) return;
    update.mutate({ picture: file });
    if (input.current) input.current.value = '';
  }

  return (
    <div className="flex flex-wrap items-center gap-4">
      <Avatar user={user} className="size-16 text-xl" />
      <div className="grid gap-1.5">
        <div className="flex flex-wrap gap-2">
          <Button size="sm" loading={update.isPending} onClick={() => input.current?.click()}>
            {hasPicture ? 'Change picture' : 'Upload a picture'}
          </Button>
          {hasPicture && (
            <Button
              size="sm"
              variant="ghost"
              disabled={update.isPending}
              onClick={() => update.mutate({ picture: null })}
            >
              Remove
            </Button>
          )}
        </div>
        <p className="text-compact text-muted">PNG, JPEG, WebP or GIF. It is cropped to a square.</p>
        {update.error && (
          <p role="alert" className="text-compact text-bad">
            {errorMessage(update.error)}
          </p>
        )}
      </div>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        aria-label="Picture"
        tabIndex={-1}
        className="sr-only"
        onChange={(event) => void savePicture(event.target.files?.[0])}
      />
    </div>
  );
}
