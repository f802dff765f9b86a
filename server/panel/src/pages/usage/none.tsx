import { Link } from 'wouter'
import { t } from '../../text'
import { Empty } from '../../ui/parts'

/** None is shown while no model was called, or none that the filters let through. */
export function None() {
  return (
    <Empty
      title={t('usage.none')}
      action={
        <Link className="button main" href="/flows">
          {t('nav.flows')}
        </Link>
      }
    >
      {t('usage.noneText')}
    </Empty>
  )
}
