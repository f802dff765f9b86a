import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { root } from '../api/client'
import { follow, useLink } from '../api/live'
import { logOut, useUser } from '../session'
import { languages, type Language, speak, t, useLanguage } from '../text'
import { Boundary } from '../ui/boundary'
import { Leave } from '../ui/dialog'
import { Icon } from '../ui/icon'
import { Button, Notice } from '../ui/parts'
import { Toasts } from '../ui/toast'
import { useAlerts } from './alerts'
import { Keys } from './keys'
import { mayGo, places } from './places'
import { toggleTheme } from './theme'

/** Shell is what stands around every page. */
export function Shell({ children }: { children: ReactNode }) {
  useLanguage()
  const [location] = useLocation()
  const [open, setOpen] = useState(false)
  const user = useUser()
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => follow(), [])
  useAlerts()
  useEffect(() => {
    setOpen(false)
    if (!first.current) main.current?.focus()
    first.current = false
  }, [location.split('/')[1]])
  const here = (path: string) => (path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`))
  return (
    <div className={`shell ${open ? 'open' : ''}`}>
      <nav aria-label={t('nav.menu')}>
        <div className="mark">
          <Icon name="flow" size={22} />
          Trunkline
        </div>
        {places
          .filter((place) => mayGo(place, user.permissions))
          .map((place) => (
            <Link key={place.path} href={place.path} aria-current={here(place.path) ? 'page' : undefined}>
              <Icon name={place.icon} />
              {t(place.text)}
            </Link>
          ))}
        <a href={`${root}/swagger`}>
          <Icon name="docs" />
          {t('nav.docs')}
        </a>
      </nav>
      <header className="bar">
        <span className="menu">
          <Button tone="quiet" icon="menu" label={t('nav.menu')} aria-expanded={open} onClick={() => setOpen(!open)} />
        </span>
        <div className="grow">
          <Lost />
        </div>
        <Tongue />
        <Button tone="quiet" icon="sun" label={t('theme')} onClick={toggleTheme} />
        <Button tone="quiet" icon="person" onClick={() => void logOut()}>
          {t('session.logOut')}
        </Button>
      </header>
      <main ref={main} tabIndex={-1}>
        <Boundary place={location}>{children}</Boundary>
      </main>
      <Keys />
      <Leave />
      <Toasts />
    </div>
  )
}

/** Lost says that the server cannot be reached; what was typed stays. */
function Lost() {
  return useLink() === 'lost' ? <Notice tone="warn">{t('reconnecting')}</Notice> : null
}

function Tongue() {
  const language = useLanguage()
  return (
    <select className="input" style={{ width: 'auto' }} aria-label={t('language')} value={language} onChange={(event) => void speak(event.target.value as Language, true)}>
      {Object.entries(languages).map(([code, name]) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  )
}
