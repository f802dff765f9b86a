import { root } from '../../api/client'
import { useMay } from '../../session'
import { t } from '../../text'
import { PageHead } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { AccountPart } from './account'
import { Audit } from './audit'
import { Me } from './me'
import { People } from './people'
import { Tokens } from './tokens'
import './settings.css'

const parts = { me: Me, people: People, tokens: Tokens, audit: Audit, account: AccountPart }
type Part = keyof typeof parts

/** Settings are the user's own, and those of the account. */
export default function Settings() {
  const manages = useMay('users.manage')
  const [chosen, choose] = useFilter('part')
  const shown = (Object.keys(parts) as Part[]).filter((part) => manages || (part !== 'people' && part !== 'audit'))
  const part = shown.find((one) => one === chosen) ?? 'me'
  const Shown = parts[part]
  return (
    <div className="page settings">
      <PageHead title={t('settings.title')} />
      <div className="tabs">
        {shown.map((one) => (
          <button key={one} type="button" aria-current={one === part ? 'page' : undefined} onClick={() => choose(one === 'me' ? '' : one)}>
            {t(`settings.${one}`)}
          </button>
        ))}
      </div>
      <Shown />
      <p className="small">
        <a href={`${root}/panel/licenses.md`}>{t('settings.licenses')}</a>
      </p>
    </div>
  )
}
