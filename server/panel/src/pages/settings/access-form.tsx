import { useUser } from '../../session'
import { t } from '../../text'
import { Select } from '../../ui/field'
import { Permissions, usePermissions } from './permissions'

export const roles = ['owner', 'admin', 'builder', 'agent', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Rights are a role, or permissions of the user's own. */
export type Rights = { role: Role } | { permissions: string[] }

/** readRights are the rights of a user or an invitation. */
export const readRights = (one: { role: Role | null; permissions: string[] }): Rights => (one.role ? { role: one.role } : { permissions: one.permissions })

/** AccessForm chooses a role, or permissions one by one. */
export function AccessForm({ value, change, wrong }: { value: Rights; change: (next: Rights) => void; wrong: (member: string) => string | undefined }) {
  const owns = useUser().role === 'owner'
  const known = usePermissions().data?.roles ?? []
  const role = 'role' in value ? value.role : ''
  const of = (name: string) => known.find((one) => one.name === name)
  return (
    <>
      <Select
        label={t('settings.role')}
        hint={role ? of(role)?.description : t('settings.customText')}
        wrong={wrong('role')}
        value={role}
        onChange={(event) => {
          const next = event.target.value as Role | ''
          change(next ? { role: next } : { permissions: of(role)?.permissions ?? [] })
        }}
        options={[...roles.filter((name) => owns || name !== 'owner' || role === 'owner').map((name) => ({ value: name, label: t(`role.${name}`) })), { value: '', label: t('role.custom') }]}
      />
      {'permissions' in value && <Permissions value={value.permissions} change={(permissions) => change({ permissions })} wrong={wrong('permissions')} />}
    </>
  )
}
