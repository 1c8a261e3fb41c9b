-- bloodstore.sql : tables of the donor centre at St. Brannoc's Hospital
-- PostgreSQL 15. Run as role "bs_owner"; the nurses' tablets connect as "bs_ward" and may only read.
-- Questions to Dr. Marisela Quint (medicine) or Haakon Vries (database).

CREATE TABLE donor (
    donor_id      integer PRIMARY KEY,
    -- initials and year of birth only; full names stay in the card index in room 0.14
    initials      varchar(4) NOT NULL,
    birth_year    smallint CHECK (birth_year <= 2007),
    -- kg; lighter people are sent home because the bag size is fixed
    weight_kg     smallint CHECK (weight_kg >= 50),
    group_abo     char(2),
    rhesus        char(1) CHECK (rhesus IN ('+', '-')),
    -- reason codes: T travel, M medicine, P pregnancy, X tattoo
    deferred_code char(1),
    -- a new tattoo bars for 4 months, a stay in a malaria region for 6
    deferred_until date,
    badge         varchar(10) DEFAULT 'none'  -- bronze at 10 gifts, silver at 25, gold at 60
);

CREATE TABLE bag (
    bag_no        char(9) PRIMARY KEY,        -- year, week, running number: 25-07-0133
    donor_id      integer REFERENCES donor,
    drawn_at      timestamp NOT NULL,
    volume_ml     smallint DEFAULT 470,       -- the tubes for the lab are drawn on top of that
    product       varchar(12) NOT NULL,       -- 'red', 'plasma' or 'platelets'
    fridge        smallint,
    status        varchar(10) DEFAULT 'held'  -- held, free, issued, thrown
);

-- Shelf life per product. Platelets must be kept moving, otherwise they clump.
CREATE TABLE shelf (
    product       varchar(12) PRIMARY KEY,
    days          smallint,
    temp_low      numeric(4,1),
    temp_high     numeric(4,1),
    place         varchar(20)
);
INSERT INTO shelf VALUES ('red', 42, 2.0, 6.0, 'fridges 1-4');
INSERT INTO shelf VALUES ('platelets', 5, 20.0, 24.0, 'shaker by the door');
INSERT INTO shelf VALUES ('plasma', 730, -40.0, -25.0, 'freezer B');

-- A bag stays 'held' until both lab results are in, usually on the next working day by 15:00.
CREATE TABLE lab (
    bag_no        char(9) REFERENCES bag,
    test          varchar(8),                 -- HIV, HBV, HCV, SYPH, ABO
    result        char(3),                    -- neg, pos, rpt
    -- 'rpt' is repeated twice; if one of the two is positive, the bag is thrown and the donor called in by letter
    tested_by     varchar(3)
);

-- Men may give six times in twelve months, women four times, with 56 days between two visits.
CREATE VIEW may_give AS
SELECT donor_id FROM donor
WHERE deferred_until IS NULL OR deferred_until < current_date;

-- Stock alarm: O negative counts double in the report, as it is the one for emergencies.
CREATE TABLE minimum (
    group_abo     char(2),
    rhesus        char(1),
    bags          smallint
);
INSERT INTO minimum VALUES ('O', '-', 18);
INSERT INTO minimum VALUES ('O', '+', 30);
INSERT INTO minimum VALUES ('A', '+', 28);
INSERT INTO minimum VALUES ('B', '-', 4);
-- below the minimum the regional bank in Tavermouth is asked; their van needs 1 h 40 min

-- Index added 2 Dec 2024: the ward list took 38 seconds before, now under one.
CREATE INDEX bag_free ON bag (product, status);

-- Law: who got which bag must be traceable for 30 years. Never delete from issue.
CREATE TABLE issue (
    bag_no        char(9) REFERENCES bag,
    ward          varchar(8),
    issued_at     timestamp,
    -- red cells that were out of the fridge for more than 30 minutes must not come back
    returned_at   timestamp,
    signed_by     varchar(3) NOT NULL
);

-- Cleanup runs on Sundays at 05:00; it thins out tablet logins after 90 days and nothing else.
