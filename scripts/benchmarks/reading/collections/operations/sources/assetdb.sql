-- assetdb on birch, PostgreSQL 15. Schema as of 2026-02-20, J. Pell
-- the csv for finance is exported from here on the 1st of each month

CREATE TABLE site (
    code        char(2) PRIMARY KEY,          -- TG, SE, BH
    name        text NOT NULL,
    cost_centre integer NOT NULL              -- TG 4100, SE 4200, BH 4350
);

CREATE TABLE asset (
    inv_no      text PRIMARY KEY CHECK (inv_no ~ '^TV-[0-9]{4}$'),
    host        text UNIQUE,
    kind        text NOT NULL,
    model       text,
    serial      text,
    site        char(2) NOT NULL REFERENCES site ON UPDATE CASCADE,
    bought      date NOT NULL,
    warranty    date,
    value_eur   numeric(10,2) DEFAULT 0,
    owner       text,
    retired     date,
    wiped_by    text,                         -- who destroyed the disks; must be set if retired
    CHECK (retired IS NULL OR wiped_by IS NOT NULL)
);

-- lent things: laptops, presenters, the two emergency modems
CREATE TABLE loan (
    id          serial PRIMARY KEY,
    inv_no      text NOT NULL REFERENCES asset,
    person      text NOT NULL,
    since       date NOT NULL DEFAULT current_date,
    until       date NOT NULL,
    returned    date,
    CHECK (until - since <= 90)               -- longer needs Maren: insert as user 'hollis'
);

CREATE TABLE maintenance (
    id          serial PRIMARY KEY,
    inv_no      text NOT NULL REFERENCES asset ON DELETE RESTRICT,
    done        date NOT NULL,
    what        text NOT NULL,
    cost_eur    numeric(10,2),
    next_due    date
);

-- for Heron: what falls out of warranty within 120 days
CREATE VIEW warranty_soon AS
SELECT inv_no, host, model, warranty FROM asset
WHERE retired IS NULL AND warranty BETWEEN current_date AND current_date + 120
ORDER BY warranty;

-- linear over five years, phones and exchanges over eight
CREATE FUNCTION book_value(a asset) RETURNS numeric AS $$
    SELECT greatest(0, a.value_eur * (1 - (current_date - a.bought) / 365.25 /
        CASE WHEN a.kind LIKE 'phone%' THEN 8 ELSE 5 END))
$$ LANGUAGE sql STABLE;

CREATE INDEX asset_site ON asset (site, kind);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO finance_ro;
